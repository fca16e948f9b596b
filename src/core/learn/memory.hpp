#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "learn/finding.hpp"

namespace quadrille::learn {

// What jobs on machines of one kind have found, in a folder of tuning tables: each job writes a file of its own, and
// whoever reads merges them all. No locks: homes are on network file systems. Nothing here throws for what is in the
// folder, nor for a folder that can't be read or written: that is returned as a complaint in one line, for the caller
// to print once. An empty name of a folder: there is no memory. Thread-safe.

struct Recalled {
  std::vector<Finding> findings;  // see merged
  std::size_t files = 0;          // that they are from
  std::string complaint;          // what was skipped; empty: nothing
};

// All that is remembered under an MPI of this name and version; an empty one: under all. A file is skipped that is not
// a regular one, is too large, belongs to somebody other than this user or root, or is no tuning table; and so are the
// lines of a table that can't be read.
Recalled recall(const std::string& folder, std::string_view mpi);

// Writes to this process's own file, which has it whole or not at all, what it finds beside what the file has already:
// findings of the same sizes are replaced if they are not newer. Without a time they are of now. If there are many
// files, those that are older are merged into this one; at every moment all is in some file, also if several processes
// do so at once or end in the middle of it. Beyond 16384 findings the oldest are dropped.
std::string remember(const std::string& folder, std::vector<Finding> findings);

struct Forgotten {
  std::size_t findings = 0;
  std::string complaint;
};

// Forgets the findings that it is true for; an empty function: all of them, with what can't be read. A job that runs
// may write its own again.
Forgotten forget(const std::string& folder, const std::function<bool(const Finding&)>& which);

}  // namespace quadrille::learn
