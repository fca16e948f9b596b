#include "topology/topology.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "schedule/memory.hpp"

namespace quadrille {

namespace {

std::size_t index(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

}  // namespace

Topology::Topology(Rank ranks, const std::vector<std::vector<std::int32_t>>& names) : ranks_(ranks) {
  Level top;
  top.first.push_back(0);
  top.largest = ranks;
  levels_.push_back(std::move(top));
  for (const auto& level : names) {
    if (level.size() != index(ranks)) {
      throw std::invalid_argument("Topology: every level must name a domain for every rank");
    }
    add_level(level);
  }
}

void Topology::add_level(const std::vector<std::int32_t>& names) {
  const Level& outer = levels_.back();
  Level level;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> numbers;  // by outer domain and name
  std::vector<Run> runs;
  std::int32_t around = 0;
  bool consecutive = true;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const std::int32_t before = around;
    if (!outer.is_consecutive()) {
      around = outer.domain_of[index(rank)];
    } else if (index(around) + 1 < outer.first.size() && outer.first[index(around) + 1] == rank) {
      ++around;
    }
    const bool goes_on = rank > 0 && around == before && names[index(rank)] == names[index(rank) - 1];
    if (goes_on) continue;
    const auto number = static_cast<std::int32_t>(level.first.size());
    const auto [place, fresh] = numbers.try_emplace({around, names[index(rank)]}, number);
    if (fresh) level.first.push_back(rank);
    consecutive &= fresh;
    runs.push_back({rank, place->second});
  }
  level.first.shrink_to_fit();
  if (!consecutive) list_members(level, runs);
  in_rank_order_ &= consecutive;
  for (std::int32_t domain = 0; domain < static_cast<std::int32_t>(level.first.size()); ++domain) {
    const Rank size = consecutive ? end_of(level, domain) - level.first[index(domain)]
                                  : level.from[index(domain) + 1] - level.from[index(domain)];
    level.largest = std::max(level.largest, size);
  }
  levels_.push_back(std::move(level));
}

void Topology::list_members(Level& level, const std::vector<Run>& runs) const {
  level.domain_of.resize(index(ranks_));
  level.members.resize(index(ranks_));
  level.from.assign(level.first.size() + 1, 0);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Rank end = i + 1 < runs.size() ? runs[i + 1].begin : ranks_;
    std::fill(level.domain_of.begin() + runs[i].begin, level.domain_of.begin() + end, runs[i].domain);
    level.from[index(runs[i].domain) + 1] += end - runs[i].begin;
  }
  for (std::size_t i = 1; i < level.from.size(); ++i) level.from[i] += level.from[i - 1];
  std::vector<std::int32_t> next(level.from.begin(), level.from.end() - 1);
  for (Rank rank = 0; rank < ranks_; ++rank) {
    level.members[index(next[index(level.domain_of[index(rank)])]++)] = rank;
  }
}

Topology Topology::nodes(Rank ranks, Rank per_node) {
  std::vector<std::int32_t> node;
  for (Rank rank = 0; rank < ranks; ++rank) node.push_back(rank / per_node);
  return Topology(ranks, {std::move(node)});
}

// One past the last rank, where those of every domain are consecutive.
Rank Topology::end_of(const Level& level, std::int32_t domain) const {
  return index(domain) + 1 < level.first.size() ? level.first[index(domain) + 1] : ranks_;
}

std::int32_t Topology::domain_number(int level, Rank rank) const {
  const Level& of = at(level);
  if (!of.is_consecutive()) return of.domain_of[index(rank)];
  const auto after = std::upper_bound(of.first.begin(), of.first.end(), rank);
  return static_cast<std::int32_t>(after - of.first.begin()) - 1;
}

Group Topology::domain(int level, Rank rank) const {
  const Level& of = at(level);
  const std::int32_t number = domain_number(level, rank);
  const Rank first = of.first[index(number)];
  if (of.is_consecutive()) return Group::strided(first, 1, end_of(of, number) - first);
  const auto begin = of.members.begin() + of.from[index(number)];
  const auto end = of.members.begin() + of.from[index(number) + 1];
  const auto count = static_cast<Rank>(end - begin);
  return *(end - 1) - first + 1 == count ? Group::strided(first, 1, count) : Group::of({begin, end});
}

Rank Topology::leader(int level, Rank rank, Rank root) const {
  const std::int32_t number = domain_number(level, rank);
  return number == domain_number(level, root) ? root : at(level).first[index(number)];
}

Group Topology::leaders(int level, Rank rank, Rank root) const {
  const Level& outer = at(level);
  const Level& inner = at(level + 1);
  const std::int32_t around = domain_number(level, rank);
  const std::int32_t of_root = domain_number(level + 1, root);
  std::vector<Rank> leaders;
  const auto add = [&](std::int32_t number) {
    leaders.push_back(number == of_root ? root : inner.first[index(number)]);
  };
  if (outer.is_consecutive()) {
    const auto begin = std::lower_bound(inner.first.begin(), inner.first.end(), outer.first[index(around)]);
    const auto end = std::lower_bound(begin, inner.first.end(), end_of(outer, around));
    for (auto one = begin; one != end; ++one) add(static_cast<std::int32_t>(one - inner.first.begin()));
  } else {
    for (std::int32_t number = 0; number < domains(level + 1); ++number) {
      if (outer.domain_of[index(inner.first[index(number)])] == around) add(number);
    }
  }
  return Group::of(std::move(leaders));
}

std::int64_t Topology::bytes() const {
  std::int64_t bytes = std::int64_t{sizeof(Topology)} + allocated(levels_);
  for (const Level& level : levels_) {
    bytes += allocated(level.first) + allocated(level.domain_of) + allocated(level.members) + allocated(level.from);
  }
  return bytes;
}

}  // namespace quadrille
