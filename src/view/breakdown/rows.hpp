#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace quadrille::breakdown {

// Calls of one collective in one form, of one communicator and size, or of all, which then have no name.
struct Row {
  std::string collective;  // "neighbor_alltoall, non-blocking"
  std::string communicator = {};
  std::string size = {};    // of a rank's data or block
  std::int64_t calls = 0;   // of all ranks
  std::int64_t bytes = 0;   // of all ranks
  double mean_seconds = 0;  // of the ranks of the program
  double longest = 0;       // of any rank, at most: the slowest of each root and operation, added up
  double mean_waited = 0;   // seconds before the calls; see trace::Calls
};

// Those with the most time first. A kind here is a collective with its communicator and size, by any root.
std::vector<Row> by_collective(const trace::Trace& trace);
std::vector<Row> by_kind(const trace::Trace& trace);

// "4 ranks: 0-12:4".
std::string title(const trace::Communicator& communicator);

}  // namespace quadrille::breakdown
