#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "select/table.hpp"

namespace quadrille {

// A rule and where it holds, as ranks tell it to each other: plain bytes.
struct PlainRule {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t segment = 0;
  Rank ranks = 0;
  std::int32_t nodes = 0;
  std::int32_t collective = 0;
  std::int32_t algorithm = 0;  // its place in the catalogue
  std::int32_t width = 0;

  friend bool operator==(const PlainRule&, const PlainRule&) = default;
};

// Those of a table that hold under this MPI.
std::vector<PlainRule> rules_under(const Table& table, std::string_view mpi);

// What the rules say to one communicator.
class Guide {
 public:
  struct Entry {
    std::int64_t from = 0;
    std::int64_t to = 0;
    Choice choice = {};
    std::int64_t segment = 0;
  };

  Guide() = default;
  Guide(std::span<const PlainRule> rules, Rank ranks, std::int32_t nodes);

  bool empty() const;
  bool knows(Collective collective) const { return !of(collective).empty(); }
  // Null if no rule holds. `bytes` are those of a rank's own data.
  const Entry* find(Collective collective, std::int64_t bytes) const;

 private:
  const std::vector<Entry>& of(Collective collective) const { return entries_[static_cast<std::size_t>(collective)]; }

  std::array<std::vector<Entry>, collectives> entries_;  // by size
};

}  // namespace quadrille
