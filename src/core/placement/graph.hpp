#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "schedule/data.hpp"

namespace quadrille::placement {

// What one rank sends to another.
struct Sent {
  Rank from = 0;
  Rank to = 0;
  double messages = 0;
  double bytes = 0;
};

// A communication graph: the traffic between ranks, seen from each of them. Memory is in proportion to the pairs that
// communicate.
class Graph {
 public:
  // What a rank sends to a peer, and receives from it.
  struct Edge {
    Rank peer = 0;
    float messages_out = 0;
    float bytes_out = 0;
    float messages_in = 0;
    float bytes_in = 0;

    double messages() const { return static_cast<double>(messages_out) + static_cast<double>(messages_in); }
    double bytes() const { return static_cast<double>(bytes_out) + static_cast<double>(bytes_in); }
  };

  // Several entries of a pair add up; what a rank sends to itself is left out.
  Graph(Rank ranks, std::span<const Sent> sent);

  Rank ranks() const { return static_cast<Rank>(from_.size()) - 1; }
  // By peer.
  std::span<const Edge> edges(Rank rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return std::span(edges_).subspan(from_[at], from_[at + 1] - from_[at]);
  }

 private:
  std::vector<std::size_t> from_;  // by rank: where its edges begin; and behind the last
  std::vector<Edge> edges_;
};

}  // namespace quadrille::placement
