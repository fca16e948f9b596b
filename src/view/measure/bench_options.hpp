#pragma once

#include <cstdint>
#include <quadrille/collective.hpp>
#include <string>
#include <vector>

#include "measure/cell.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace quadrille::measure {

// The options of `quadrille bench`.
struct BenchOptions {
  std::vector<Collective> collectives;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> algorithms;  // names such as bruck:4; "all", "default"
  Goal goal;
  double pause = 1e-3;
  bool warm = false;
  bool control = false;
  double delay = 0;  // of a deliberately slowed native call, relative to its time; 0: none
  std::uint64_t seed = 1;
  bool quiet = false;  // no option: as part of something else, without a word on progress
  std::string label;
  std::string json;  // files; "-": standard output; empty: none
  std::string csv;
  std::string plot;
  std::string table;  // the tuning table to update
  bool remember = false;
  double total = 0;  // seconds for all points together, instead of the goal's; 0: unset
};

// Adds the options to `quadrille bench`, for its help.
void add_options(CLI::App& app);

// Thrown for --help and for invalid options.
struct ParseExit {
  int status = 0;
  std::string text;  // for standard output if the status is 0, else for standard error
};
BenchOptions parse_bench_options(int argc, const char* const* argv);

// Parses "8,64KiB,1MiB", "8-1MiB" (each size twice the one before), "8-1MiB*16" (16 times); a range ends with its upper
// end, whether or not that is a multiple of the size before. Without duplicates. Throws std::invalid_argument.
std::vector<std::int64_t> parse_sizes(const std::string& text);

}  // namespace quadrille::measure
