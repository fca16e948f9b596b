#pragma once

#include <vector>

#include "schedule/group.hpp"

namespace quadrille {

// The machine as nested groups of ranks: level 0 is the whole communicator, each further level splits the groups of
// the one before (racks, nodes, sockets, ...).
class Topology {
 public:
  // `domains[level][rank]` names the domain of a rank on that level; a level need not repeat the names above it.
  Topology(Rank ranks, std::vector<std::vector<std::int32_t>> domains);

  // Ranks 0 ... per_node - 1 on the first node, and so on; the last one may be smaller.
  static Topology nodes(Rank ranks, Rank per_node);

  Rank ranks() const { return ranks_; }
  int levels() const { return static_cast<int>(domains_.size()) + 1; }

  // The ranks that share the domain of `rank` on `level`, in rank order.
  Group domain(int level, Rank rank) const;

  // Who speaks for the domain of `rank` on `level`: the root where it is inside, the first rank elsewhere.
  Rank leader(int level, Rank rank, Rank root) const;

  // The leaders of the domains of `level + 1` inside the domain of `rank` on `level`, in order of their first ranks.
  Group leaders(int level, Rank rank, Rank root) const;

 private:
  bool together(int level, Rank a, Rank b) const;

  Rank ranks_;
  std::vector<std::vector<std::int32_t>> domains_;
};

}  // namespace quadrille
