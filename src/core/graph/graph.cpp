#include "graph/graph.hpp"

namespace quadrille::graph {

Traffic Graph::between(Rank from, Rank to) const {
  const auto row = rows_.find(from);
  if (row == rows_.end()) return {};
  const auto cell = row->second.find(to);
  return cell == row->second.end() ? Traffic{} : cell->second;
}

Traffic Graph::total() const {
  Traffic sum;
  for (const auto& [from, row] : rows_) {
    for (const auto& [to, traffic] : row) {
      sum.messages += traffic.messages;
      sum.bytes += traffic.bytes;
    }
  }
  return sum;
}

std::int64_t Graph::pairs() const {
  std::int64_t sum = 0;
  for (const auto& [from, row] : rows_) sum += static_cast<std::int64_t>(row.size());
  return sum;
}

void Graph::add(Rank from, Rank to, const Traffic& traffic, std::int64_t times) {
  Traffic& sum = rows_[from][to];
  sum.messages += traffic.messages * times;
  sum.bytes += traffic.bytes * times;
}

void Graph::add(const Graph& other) {
  for (const auto& [from, row] : other.rows_) {
    for (const auto& [to, traffic] : row) add(from, to, traffic);
  }
}

Graph Graph::symmetric() const {
  Graph both(ranks_);
  for (const auto& [from, row] : rows_) {
    for (const auto& [to, traffic] : row) {
      both.add(from, to, traffic);
      if (from != to) both.add(to, from, traffic);
    }
  }
  return both;
}

Graph grid(std::span<const Rank> extents, bool periodic, std::int64_t bytes) {
  return grid(extents, std::vector<bool>(extents.size(), periodic), bytes);
}

Graph grid(std::span<const Rank> extents, const std::vector<bool>& periodic, std::int64_t bytes) {
  Rank ranks = 1;
  for (const Rank extent : extents) ranks *= extent;
  Graph graph(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    Rank stride = ranks;
    for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
      const Rank extent = extents[dimension];
      stride /= extent;
      const Rank place = rank / stride % extent;
      for (const Rank step : {-1, 1}) {
        const Rank next = place + step;
        const bool inside = next >= 0 && next < extent;
        if (!inside && !periodic[dimension]) continue;
        const Rank peer = rank + ((next + extent) % extent - place) * stride;
        if (peer != rank) graph.add(rank, peer, {1, bytes});
      }
    }
  }
  return graph;
}

}  // namespace quadrille::graph
