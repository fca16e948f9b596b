#include "knowledge/parts.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace quadrille::knowledge {

namespace {

std::vector<Group> nodes_of(const Topology& topology) {
  const int level = topology.levels() - 1;
  std::vector<Group> nodes;
  for (const Rank first : topology.first_of_domains(level)) nodes.push_back(topology.domain(level, first));
  return nodes;
}

// The rank's number on its node.
Rank place_on_node(const std::vector<Group>& nodes, Rank rank) {
  for (const Group& node : nodes) {
    if (const std::optional<Rank> place = node.index_of(rank)) return *place;
  }
  return 0;
}

// The ranks with that number on their nodes.
Group across(const std::vector<Group>& nodes, Rank place) {
  std::vector<Rank> ranks;
  for (const Group& node : nodes) {
    if (place < node.size()) ranks.push_back(node[place]);
  }
  std::sort(ranks.begin(), ranks.end());
  return Group::of(std::move(ranks));
}

}  // namespace

Case Part::asked(const Step& step) const {
  Case asked = step.asked;
  asked.ranks = ranks.size();
  asked.root = root;
  return asked;
}

std::vector<Part> parts_of(const Step& step, const Topology* topology) {
  const Rank root = step.asked.root;
  if (step.by == By::all) return {{Group::all(step.asked.ranks), root}};
  if (!topology) return {};
  const std::vector<Group> nodes = nodes_of(*topology);
  const Rank place = place_on_node(nodes, root);
  if (step.by == By::one_of_each_node) {
    const Group group = across(nodes, place);
    return {{group, group.index_of(root).value_or(0)}};
  }
  std::vector<Part> parts;
  for (const Group& node : nodes) parts.push_back({node, std::min(place, node.size() - 1)});
  return parts;
}

Topology topology_of(const Group& group, const Topology& whole) {
  std::vector<std::vector<std::int32_t>> names;
  for (int level = 1; level < whole.levels(); ++level) {
    names.emplace_back();
    for (Rank one = 0; one < group.size(); ++one) names.back().push_back(whole.domain_number(level, group[one]));
  }
  return {group.size(), names};
}

}  // namespace quadrille::knowledge
