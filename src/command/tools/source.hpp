#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost/machine_file.hpp"
#include "graph/decompose.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace quadrille::tools {

// A trace or a pattern, and how its collectives are run.
struct SourceArguments {
  std::string what;
  Rank ranks = 0;
  std::string policy;
  std::vector<std::string> algorithms;
  std::string machine = {};  // whose numbers our own policy chooses by; empty: those of this machine
  std::int32_t cores = 1;    // of a node, where the machine file has none
};

// Everything but the machine. `arguments` must live until they are parsed.
void add_source_options(CLI::App* command, SourceArguments& arguments);

// Throws std::invalid_argument if there is no such trace or pattern.
graph::Source source_of(const SourceArguments& arguments);

// The machine of a file, or else what is known of this one.
cost::Machine machine_named(const std::string& file);

}  // namespace quadrille::tools
