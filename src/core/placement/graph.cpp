#include "placement/graph.hpp"

#include <algorithm>
#include <numeric>

namespace quadrille::placement {

Graph::Graph(Rank ranks, std::span<const Sent> sent) : from_(static_cast<std::size_t>(ranks) + 1) {
  const auto each_end = [&](const auto& see) {
    for (const Sent& one : sent) {
      if (one.from == one.to) continue;
      see(one.from, Edge{.peer = one.to,
                         .messages_out = static_cast<float>(one.messages),
                         .bytes_out = static_cast<float>(one.bytes)});
      see(one.to, Edge{.peer = one.from,
                       .messages_in = static_cast<float>(one.messages),
                       .bytes_in = static_cast<float>(one.bytes)});
    }
  };
  each_end([&](Rank rank, const Edge&) { ++from_[static_cast<std::size_t>(rank) + 1]; });
  std::partial_sum(from_.begin(), from_.end(), from_.begin());
  edges_.resize(from_.back());
  std::vector<std::size_t> next(from_.begin(), from_.end() - 1);
  each_end([&](Rank rank, const Edge& edge) { edges_[next[static_cast<std::size_t>(rank)]++] = edge; });

  // Entries of a pair become one, in place: what is written is never ahead of what is read.
  std::size_t end = 0;
  for (std::size_t rank = 0; rank + 1 < from_.size(); ++rank) {
    const auto first = edges_.begin() + static_cast<std::ptrdiff_t>(from_[rank]);
    const auto last = edges_.begin() + static_cast<std::ptrdiff_t>(next[rank]);
    std::stable_sort(first, last, [](const Edge& a, const Edge& b) { return a.peer < b.peer; });
    from_[rank] = end;
    for (auto edge = first; edge != last; ++edge) {
      if (end > from_[rank] && edges_[end - 1].peer == edge->peer) {
        Edge& same = edges_[end - 1];
        same.messages_out += edge->messages_out;
        same.bytes_out += edge->bytes_out;
        same.messages_in += edge->messages_in;
        same.bytes_in += edge->bytes_in;
      } else {
        edges_[end++] = *edge;
      }
    }
  }
  from_.back() = end;
  edges_.resize(end);
  edges_.shrink_to_fit();
}

}  // namespace quadrille::placement
