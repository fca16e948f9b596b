#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/winning_ranges.hpp"
#include "native/report.hpp"

namespace quadrille::native {

struct RuleOptions {
  double gain = 0.05;        // minimum gain over the default
  bool commutative = false;  // the program's operations commute, so algorithms may be used that don't check it
};

// An algorithm to be used on so many ranks in a range of sizes, as the benchmark counts them.
struct Rule {
  int ranks = 0;
  Algorithm algorithm;
  measure::WinningRange range;
};

struct Rules {
  std::vector<Rule> list;  // by collective, ranks and size
  int withheld = 0;        // points won by algorithms that need RuleOptions::commutative
};

// Where an algorithm is clearly faster than the default: their intervals don't overlap, and the medians differ by the
// gain. Between measured sizes as winning_ranges has it.
Rules rules_of(const std::vector<Report>& reports, const RuleOptions& options = {});

// Lines that say what was measured.
std::vector<std::string> origins(const std::vector<Report>& reports);

// Open MPI's file of dynamic rules, version 4.1. On other numbers of ranks and other sizes its default stays.
std::string openmpi_file(const std::vector<Rule>& rules, const std::vector<std::string>& comments);

// MPICH's decision trees with the rules. Throws std::invalid_argument if a collective is not in them.
Trees with_rules(const Trees& trees, const std::vector<Rule>& rules);
// With comments in front, as MPICH reads it.
std::string mpich_file(const nlohmann::ordered_json& tree, const std::vector<std::string>& comments);

// "allreduce, 64 KiB to 1 MiB on 8 ranks: ring, 0.6-0.7 of the default's time"
std::string to_text(const Rule& rule);

}  // namespace quadrille::native
