#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "select/case.hpp"
#include "select/table.hpp"

namespace quadrille {

// A rule and where it was measured. Plain bytes, as rank 0 sends it to the others.
struct PlacedRule {
  Rule rule;
  Rank ranks = 0;
  std::int32_t nodes = 0;
  double seconds = 0;         // of a call by what it names; 0: unknown
  double native_seconds = 0;  // by the MPI's own function; 0: unknown

  friend bool operator==(const PlacedRule&, const PlacedRule&) = default;
};

// Those of a table that were measured under this MPI.
std::vector<PlacedRule> rules_under(const Table& table, std::string_view mpi);

// The rules that hold for one communicator.
class Guide {
 public:
  Guide() = default;
  Guide(std::span<const PlacedRule> rules, Rank ranks, std::int32_t nodes);

  bool empty() const;
  // Whether any rule holds for some size of it.
  bool knows(Collective collective) const { return !of(collective).empty(); }
  // Null if no rule holds. Its variant may be none: the MPI's own function is fastest.
  const Rule* find(Collective collective, std::int64_t bytes) const;

 private:
  const std::vector<Rule>& of(Collective collective) const { return rules_[static_cast<std::size_t>(collective)]; }

  std::array<std::vector<Rule>, collectives> rules_;  // by size
};

}  // namespace quadrille
