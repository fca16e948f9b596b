#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "knowledge/traffic.hpp"
#include "schedule/schedule.hpp"

namespace quadrille::graph {

using knowledge::Traffic;

// Which rank sends how much to which: sparse, by source and destination.
class Graph {
 public:
  using Rows = std::map<Rank, std::map<Rank, Traffic>>;

  explicit Graph(Rank ranks) : ranks_(ranks) {}

  Rank ranks() const { return ranks_; }
  const Rows& rows() const { return rows_; }
  Traffic between(Rank from, Rank to) const;
  Traffic total() const;
  std::int64_t pairs() const;

  void add(Rank from, Rank to, const Traffic& traffic, std::int64_t times = 1);
  void add(const Graph& other);
  // With both directions of a pair added up, in both places.
  Graph symmetric() const;

 private:
  Rank ranks_;
  Rows rows_;
};

// Ranks in a grid of these extents, the last dimension running fastest, that each send a message of so many bytes to
// the neighbours in every direction; at the edges to the opposite one if it is periodic, in all dimensions or in some.
Graph grid(std::span<const Rank> extents, bool periodic, std::int64_t bytes);
Graph grid(std::span<const Rank> extents, const std::vector<bool>& periodic, std::int64_t bytes);

}  // namespace quadrille::graph
