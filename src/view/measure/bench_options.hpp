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

// What is to be measured.
struct BenchOptions {
  std::vector<Collective> collectives;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> algorithms;  // names, as bruck:4; "all", "default"
  Goal goal;
  double pause = 1e-3;
  bool warm = false;
  bool control = false;
  double delay = 0;  // of the native call that is slowed down on purpose, relative to it; 0: none
  std::uint64_t seed = 1;
  std::string label;
  std::string json;  // files; "-": standard output; empty: none
  std::string csv;
  std::string plot;
  std::string table;  // a file, in which other rules may be already
};

// The options of `quadrille bench`, for its help.
void add_options(CLI::App& app);

// What the words ask for. Throws Exit where that is help, or nonsense.
struct Exit {
  int status = 0;
  std::string text;  // for standard output if all is well, else for standard error
};
BenchOptions parse_bench_options(int argc, const char* const* argv);

// "8,64KiB,1MiB", "8-1MiB" in powers of two, "8-1MiB*16" in powers of 16; each once. Throws std::invalid_argument.
std::vector<std::int64_t> parse_sizes(const std::string& text);

}  // namespace quadrille::measure
