#pragma once

#include <cstdint>
#include <vector>

#include "schedule/group.hpp"

namespace quadrille {

// The machine as nested groups of ranks: level 0 is the whole communicator, each further level splits the domains of
// the previous one (racks, nodes, sockets, ...). Built once per communicator; the time of a query depends only on the
// size of its result.
class Topology {
 public:
  // `names[level][rank]` is the domain of a rank on that level; names need only be unique within the enclosing domain.
  Topology(Rank ranks, const std::vector<std::vector<std::int32_t>>& names);

  // Nodes of `per_node` consecutive ranks; the last one may be smaller.
  static Topology nodes(Rank ranks, Rank per_node);

  int levels() const { return static_cast<int>(levels_.size()); }

  // Whether the ranks of every domain are consecutive: then a reduction inside domains first preserves rank order.
  bool in_rank_order() const { return in_rank_order_; }

  // The ranks that share the domain of `rank` on `level`, in rank order.
  Group domain(int level, Rank rank) const;

  // The number of domains of a level.
  std::int32_t domains(int level) const {
    return static_cast<std::int32_t>(levels_[static_cast<std::size_t>(level)].domains.size());
  }
  // The number of a rank's domain among them.
  std::int32_t domain_number(int level, Rank rank) const {
    return levels_[static_cast<std::size_t>(level)].domain_of[static_cast<std::size_t>(rank)];
  }
  // The first rank of each of them.
  std::vector<Rank> first_of_domains(int level) const;
  // The number of ranks of the largest.
  Rank largest_domain(int level) const { return levels_[static_cast<std::size_t>(level)].largest; }

  // The leader of the domain of `rank` on `level`: the root if it is a member, otherwise the first rank.
  Rank leader(int level, Rank rank, Rank root) const;

  // The leaders of the domains of `level + 1` inside the domain of `rank` on `level`, in order of their first ranks.
  Group leaders(int level, Rank rank, Rank root) const;

 private:
  struct Domain {
    std::vector<Rank> members;
    std::vector<std::int32_t> inside;  // its domains of the next level
  };
  struct Level {
    std::vector<std::int32_t> domain_of;  // by rank
    std::vector<Domain> domains;
    Rank largest = 0;  // ranks of one
  };

  const Domain& at(int level, Rank rank) const;
  void add_level(const std::vector<std::int32_t>& names);

  std::vector<Level> levels_;
  bool in_rank_order_ = true;
};

}  // namespace quadrille
