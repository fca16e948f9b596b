#include "topology/topology.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace quadrille {

Topology::Topology(Rank ranks, const std::vector<std::vector<std::int32_t>>& names) {
  Level top;
  top.domain_of.assign(static_cast<std::size_t>(ranks), 0);
  top.domains.emplace_back();
  for (Rank rank = 0; rank < ranks; ++rank) top.domains.front().members.push_back(rank);
  top.largest = ranks;
  levels_.push_back(std::move(top));
  for (const auto& level : names) {
    if (level.size() != static_cast<std::size_t>(ranks)) {
      throw std::invalid_argument("Topology: every level must name a domain for every rank");
    }
    add_level(level);
  }
}

void Topology::add_level(const std::vector<std::int32_t>& names) {
  Level& outer = levels_.back();
  Level level;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> numbers;  // by outer domain and name
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    const std::int32_t around = outer.domain_of[rank];
    const auto number = static_cast<std::int32_t>(level.domains.size());
    const auto [place, fresh] = numbers.try_emplace({around, names[rank]}, number);
    if (fresh) {
      level.domains.emplace_back();
      outer.domains[static_cast<std::size_t>(around)].inside.push_back(number);
    }
    // A domain continues after another has begun.
    in_rank_order_ &= fresh || place->second == level.domain_of.back();
    level.domain_of.push_back(place->second);
    std::vector<Rank>& members = level.domains[static_cast<std::size_t>(place->second)].members;
    members.push_back(static_cast<Rank>(rank));
    level.largest = std::max(level.largest, static_cast<Rank>(members.size()));
  }
  levels_.push_back(std::move(level));
}

Topology Topology::nodes(Rank ranks, Rank per_node) {
  std::vector<std::int32_t> node;
  for (Rank rank = 0; rank < ranks; ++rank) node.push_back(rank / per_node);
  return Topology(ranks, {std::move(node)});
}

const Topology::Domain& Topology::at(int level, Rank rank) const {
  const Level& of = levels_[static_cast<std::size_t>(level)];
  return of.domains[static_cast<std::size_t>(of.domain_of[static_cast<std::size_t>(rank)])];
}

Group Topology::domain(int level, Rank rank) const {
  const std::vector<Rank>& members = at(level, rank).members;
  const auto count = static_cast<Rank>(members.size());
  if (members.back() - members.front() + 1 == count) return Group::strided(members.front(), 1, count);
  return Group::of(members);
}

std::vector<Rank> Topology::first_of_domains(int level) const {
  std::vector<Rank> first;
  for (const Domain& domain : levels_[static_cast<std::size_t>(level)].domains) first.push_back(domain.members.front());
  return first;
}

Rank Topology::leader(int level, Rank rank, Rank root) const {
  const Domain& domain = at(level, rank);
  return &domain == &at(level, root) ? root : domain.members.front();
}

Group Topology::leaders(int level, Rank rank, Rank root) const {
  std::vector<Rank> leaders;
  for (std::int32_t inner : at(level, rank).inside) {
    const Rank first =
        levels_[static_cast<std::size_t>(level) + 1].domains[static_cast<std::size_t>(inner)].members.front();
    leaders.push_back(leader(level + 1, first, root));
  }
  return Group::of(std::move(leaders));
}

}  // namespace quadrille
