#include "topology/topology.hpp"

#include <algorithm>
#include <stdexcept>

namespace quadrille {

Topology::Topology(Rank ranks, std::vector<std::vector<std::int32_t>> domains)
    : ranks_(ranks), domains_(std::move(domains)) {
  for (const auto& level : domains_) {
    if (level.size() != static_cast<std::size_t>(ranks)) {
      throw std::invalid_argument("Topology: every level names a domain for every rank");
    }
  }
}

Topology Topology::nodes(Rank ranks, Rank per_node) {
  std::vector<std::int32_t> node;
  for (Rank rank = 0; rank < ranks; ++rank) node.push_back(rank / per_node);
  return Topology(ranks, {std::move(node)});
}

bool Topology::together(int level, Rank a, Rank b) const {
  return std::all_of(domains_.begin(), domains_.begin() + level, [&](const auto& domain) {
    return domain[static_cast<std::size_t>(a)] == domain[static_cast<std::size_t>(b)];
  });
}

Group Topology::domain(int level, Rank rank) const {
  if (level == 0) return Group::all(ranks_);
  std::vector<Rank> members;
  for (Rank other = 0; other < ranks_; ++other) {
    if (together(level, rank, other)) members.push_back(other);
  }
  return Group::of(std::move(members));
}

Rank Topology::leader(int level, Rank rank, Rank root) const {
  if (together(level, rank, root)) return root;
  Rank first = 0;
  while (!together(level, rank, first)) ++first;
  return first;
}

Group Topology::leaders(int level, Rank rank, Rank root) const {
  std::vector<Rank> leaders;
  for (Rank other = 0; other < ranks_; ++other) {
    const bool known =
        std::any_of(leaders.begin(), leaders.end(), [&](Rank one) { return together(level + 1, one, other); });
    if (together(level, rank, other) && !known) leaders.push_back(leader(level + 1, other, root));
  }
  return Group::of(std::move(leaders));
}

}  // namespace quadrille
