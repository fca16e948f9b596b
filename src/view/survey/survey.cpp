#include "survey/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/topology.hpp"

namespace quadrille::survey {

namespace {

using Names = std::vector<std::int32_t>;  // of domains, by rank; -1: in none

machine::Part part_of(Level level) {
  return machine::all_parts[static_cast<std::size_t>(level) - static_cast<std::size_t>(Level::package)];
}

Names numbered(std::span<const Site> sites, std::uint64_t Site::*what) {
  std::map<std::uint64_t, std::int32_t> numbers;
  Names names;
  for (const Site& site : sites) {
    names.push_back(numbers.try_emplace(site.*what, static_cast<std::int32_t>(numbers.size())).first->second);
  }
  return names;
}

Names names_of(std::span<const Site> sites, Level level) {
  if (level == Level::rack) return numbered(sites, &Site::rack);
  if (level == Level::node) return numbered(sites, &Site::node);
  std::set<std::uint64_t> unclear;  // nodes
  Names names;
  for (const Site& site : sites) {
    names.push_back(site.position[part_of(level)]);
    if (names.back() < 0) unclear.insert(site.node);
  }
  for (std::size_t rank = 0; rank < sites.size(); ++rank) {
    if (unclear.contains(sites[rank].node)) names[rank] = -1;
  }
  return names;
}

std::string domain_name(const Site& site, Level level, std::int32_t number) {
  if (level == Level::rack) return site.rack_name.data();
  if (level == Level::node) return site.host.data();
  return std::to_string(number);
}

std::vector<Rank> listed(const Group& group) {
  std::vector<Rank> ranks;
  for (Rank i = 0; i < group.size(); ++i) ranks.push_back(group[i]);
  return ranks;
}

// The levels that are shown, and queries on them.
class Tree {
 public:
  explicit Tree(std::span<const Site> sites)
      : sites_(sites), ranks_(static_cast<Rank>(sites.size())), topology_(ranks_, {}) {
    for (const Level level : all_levels) {
      std::vector<Names> tried = names_;
      tried.push_back(names_of(sites, level));
      Topology deeper(ranks_, tried);
      const int innermost = topology_.levels() - 1;
      const std::size_t before = topology_.first_of_domains(innermost).size();
      if (level != Level::node && deeper.first_of_domains(innermost + 1).size() == before) continue;
      names_ = std::move(tried);
      topology_ = std::move(deeper);
      levels_.push_back(level);
    }
  }

  std::vector<Layer> layers() const {
    std::vector<Layer> layers;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const int level = static_cast<int>(i) + 1;
      Layer layer{levels_[i], {}};
      for (const Rank first : topology_.first_of_domains(level)) {
        if (names_[i][static_cast<std::size_t>(first)] >= 0) layer.leaders.push_back(topology_.leader(level, first, 0));
      }
      layers.push_back(std::move(layer));
    }
    return layers;
  }

  // The domains inside that of `rank` on a level of the topology.
  std::vector<Domain> inside(int level, Rank rank) const {
    std::vector<Domain> domains;
    if (level + 1 == topology_.levels()) return domains;
    const Level inner = levels_[static_cast<std::size_t>(level)];
    const Group leaders = topology_.leaders(level, rank, 0);
    for (Rank i = 0; i < leaders.size(); ++i) {
      const Rank leader = leaders[i];
      std::vector<Domain> further = inside(level + 1, leader);
      if (inner != Level::node && leaders.size() == 1) return further;
      const std::int32_t number = names_[static_cast<std::size_t>(level)][static_cast<std::size_t>(leader)];
      domains.push_back({inner, domain_name(sites_[static_cast<std::size_t>(leader)], inner, number),
                         listed(topology_.domain(level + 1, leader)), leader, std::move(further)});
    }
    return domains;
  }

 private:
  std::span<const Site> sites_;
  Rank ranks_;
  std::vector<Names> names_;
  std::vector<Level> levels_;
  Topology topology_;
};

Rank count_in(const std::vector<Domain>& domains, Level level) {
  Rank count = 0;
  for (const Domain& domain : domains) count += domain.level == level ? 1 : count_in(domain.inside, level);
  return count;
}

}  // namespace

std::string_view name(Level level) {
  constexpr std::array<std::string_view, all_levels.size()> names = {"rack", "node", "package", "NUMA", "L3", "core"};
  return names[static_cast<std::size_t>(level)];
}

std::string Domain::title() const {
  if (level == Level::node) return name;
  if (level == Level::rack && name.empty()) return "no rack";
  return fmt::format("{} {}", survey::name(level), name);
}

Rank Survey::count(Level level) const {
  return count_in(domains, level);
}

Survey survey_of(std::span<const Site> sites) {
  const Tree tree(sites);
  Survey survey;
  survey.members = static_cast<Rank>(sites.size());
  survey.layers = tree.layers();
  survey.domains = tree.inside(0, 0);
  for (Rank rank = 0; rank < survey.members; ++rank) {
    if (sites[static_cast<std::size_t>(rank)].position[machine::Part::core] < 0) survey.unbound.push_back(rank);
  }
  return survey;
}

Survey survey_of(const std::string& host, const machine::Parts& parts) {
  std::vector<Site> cores;
  for (const machine::Position& position : parts.cores()) {
    cores.push_back({.position = position});
    cores.back().position[machine::Part::core] = -1;
  }
  Survey survey;
  if (!cores.empty()) survey = survey_of(cores);
  if (cores.empty()) survey.domains.push_back({Level::node, "", {}});
  survey.domains.front().name = host;
  survey.of_ranks = false;
  survey.layers.clear();
  survey.unbound.clear();
  survey.parts_known = parts.known();
  return survey;
}

}  // namespace quadrille::survey
