#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/program_arguments.hpp"

namespace quadrille::tools {

// The options of `quadrille tune --native`.
struct NativeTuning {
  Words words;  // collectives, and the launcher with its arguments
  std::string output = "native.json";
  std::string sizes = "8-1MiB*8";
  std::string segments = "32KiB,128KiB";
  double time = 0.2;    // seconds for a size in a launch
  int rounds = 2;       // launches of each algorithm
  double timeout = 60;  // seconds for a size, with all that goes wrong
  std::optional<std::string> mpi;
};

// Measures the MPI's own algorithms, each in launches of its own; returns the exit status.
int tune_native(const NativeTuning& tuning);

}  // namespace quadrille::tools
