#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrille::measure {

struct NodePair {
  std::int32_t one = 0;  // the smaller number
  std::int32_t other = 0;

  friend auto operator<=>(const NodePair&, const NodePair&) = default;
};
using PairRound = std::vector<NodePair>;

// Larger racks are sampled: each node meets so many others of its rack, and each rack so many others.
inline constexpr std::int32_t complete_rack = 16;
inline constexpr std::int32_t sampled_partners = 8;

// Which pairs of nodes are measured, given the rack of each: in a rack of at most 16 nodes all, in a larger one 8
// rounds of a tournament; between two racks a pair for each node of the larger one, at most 16; of more than 9 racks, 8
// rounds of a tournament of racks. So their number grows with that of the nodes, not with its square.
std::vector<NodePair> pairs_to_measure(std::span<const std::int32_t> rack_of);

// The same pairs in rounds, in their order: in a round a node is part of one pair, and a rack of one that leaves it.
std::vector<PairRound> rounds_of(std::span<const NodePair> pairs, std::span<const std::int32_t> rack_of);

}  // namespace quadrille::measure
