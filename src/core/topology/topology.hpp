#pragma once

#include <cstdint>
#include <vector>

#include "schedule/group.hpp"

namespace quadrille {

// The machine as nested groups of ranks: level 0 is the whole communicator, each further level splits the domains of
// the previous one (racks, nodes, sockets, ...). Built once per communicator. Where the ranks of every domain are
// consecutive, memory depends on the number of domains alone; the time of a query on the size of its result, and on the
// logarithm of the number of domains.
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
  std::int32_t domains(int level) const { return static_cast<std::int32_t>(at(level).first.size()); }
  // The number of a rank's domain among them: they are in the order of their first ranks.
  std::int32_t domain_number(int level, Rank rank) const;
  // The first rank of each of them.
  const std::vector<Rank>& first_of_domains(int level) const { return at(level).first; }
  // The number of ranks of the largest.
  Rank largest_domain(int level) const { return at(level).largest; }
  // Whether two ranks are on one node, that is in one domain of the last level.
  bool same_node(Rank one, Rank other) const {
    return domain_number(levels() - 1, one) == domain_number(levels() - 1, other);
  }

  // The leader of the domain of `rank` on `level`: the root if it is a member, otherwise the first rank.
  Rank leader(int level, Rank rank, Rank root) const;

  // The leaders of the domains of `level + 1` inside the domain of `rank` on `level`, in order of their first ranks.
  Group leaders(int level, Rank rank, Rank root) const;

  // Memory that it takes.
  std::int64_t bytes() const;

 private:
  struct Level {
    std::vector<Rank> first;  // of each domain
    Rank largest = 0;         // ranks of one
    // Nothing where the ranks of every domain are consecutive.
    std::vector<std::int32_t> domain_of;  // by rank
    std::vector<Rank> members;            // of one domain after another
    std::vector<std::int32_t> from;       // where those of a domain begin; and behind the last

    bool is_consecutive() const { return domain_of.empty(); }
  };
  // Ranks from `begin` up to the next run are in one domain.
  struct Run {
    Rank begin = 0;
    std::int32_t domain = 0;
  };

  const Level& at(int level) const { return levels_[static_cast<std::size_t>(level)]; }
  Rank end_of(const Level& level, std::int32_t domain) const;
  void add_level(const std::vector<std::int32_t>& names);
  void list_members(Level& level, const std::vector<Run>& runs) const;

  Rank ranks_;
  std::vector<Level> levels_;
  bool in_rank_order_ = true;
};

}  // namespace quadrille
