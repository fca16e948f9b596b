#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/program_arguments.hpp"

namespace quadrille::tools {

// The options of `quadrille tune`.
struct Tuning {
  std::vector<std::string> collectives;  // empty: the default
  std::string sizes = "8-1MiB*8";
  std::optional<double> minutes;  // for all of it
  std::optional<std::string> mpi;
  bool native = false;
  // With --native, else unused.
  Words launcher;  // with its options
  std::string output = "native.json";
  std::string segments = "32KiB,128KiB";
  double each = 0.2;    // seconds for a size in a launch
  int rounds = 2;       // launches of each algorithm
  double timeout = 60;  // seconds for a size, with all that goes wrong
};

// Measures the MPI's own algorithms, each in launches of its own; returns the exit status.
int tune_native(const Tuning& tuning);

}  // namespace quadrille::tools
