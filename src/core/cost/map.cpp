#include "cost/map.hpp"

#include <algorithm>

namespace quadrille::cost {

namespace {

// Of those that stand for all.
constexpr Rank sampled_nodes = 16;

// The messages of a round of so many ranks.
std::vector<Family> families(Map::Pattern pattern, Rank distance, Rank ranks) {
  const std::int64_t d = distance;
  const std::int64_t p = ranks;
  switch (pattern) {
    case Map::Pattern::shift: {
      const std::int64_t around = d % p;
      return {{.offset = around, .begin = 0, .end = p - around}, {.offset = around - p, .begin = p - around, .end = p}};
    }
    case Map::Pattern::exchange:
      return {{.offset = d, .period = 2 * d, .first = 0, .last = d, .begin = 0, .end = p - d},
              {.offset = -d, .period = 2 * d, .first = d, .last = 2 * d, .begin = 0, .end = p}};
    case Map::Pattern::tree:
      return {{.offset = d, .period = 2 * d, .first = 0, .last = 1, .begin = 0, .end = p - d}};
  }
  return {};
}

}  // namespace

Map::Map(const Topology& topology, Rank most_counted)
    : topology_(&topology), most_counted_(most_counted), levels_(topology.levels() - 1) {
  const int node_level = levels_;
  const Rank ranks = topology.domain(0, 0).size();
  ranks_per_node_ = topology.largest_domain(node_level);
  Place& all = places_[static_cast<std::size_t>(Group::all)];
  all.ranks = ranks;

  // Nodes in the order of racks.
  const std::vector<Rank>& first = topology.first_of_domains(node_level);
  std::vector<Rank> ordered = first;
  std::stable_sort(ordered.begin(), ordered.end(), [&](Rank a, Rank b) { return rack_of(a) < rack_of(b); });
  const auto make = [&](Group group, const std::vector<Rank>& members) {
    Place& made = places_[static_cast<std::size_t>(group)];
    made.ranks = static_cast<Rank>(members.size());
    made.members = members;
  };
  make(Group::nodes, ordered);
  std::vector<Rank> racks;
  for (const Rank member : ordered) {
    if (racks.empty() || rack_of(racks.back()) != rack_of(member)) racks.push_back(member);
  }
  make(Group::racks, racks);
  std::vector<Rank> most;
  for (auto begin = ordered.begin(); begin != ordered.end();) {
    const auto end = std::find_if(begin, ordered.end(), [&](Rank one) { return rack_of(one) != rack_of(*begin); });
    if (end - begin > std::ssize(most)) most.assign(begin, end);
    begin = end;
  }
  make(Group::nodes_of_rack, most);

  for (Place& one : places_) {
    if (one.ranks <= most_counted || racks.size() < 2) continue;
    one.racks.emplace(one.ranks, static_cast<std::size_t>(most_counted), [&](Rank rank) {
      return rack_of(one.members.empty() ? rank : one.members[static_cast<std::size_t>(rank)]);
    });
  }
  for (Place& one : places_) {
    if (&one != &all || ranks <= most_counted) {
      for (Rank rank = 0; rank < std::min(one.ranks, most_counted); ++rank) one.sample.push_back(rank);
      continue;
    }
    const auto stride = std::max<std::size_t>(1, first.size() / sampled_nodes);
    for (std::size_t i = 0; i < first.size() && std::ssize(one.sample) < most_counted; i += stride) {
      const quadrille::Group node = topology.domain(node_level, first[i]);
      for (Rank j = 0; j < node.size(); ++j) one.sample.push_back(node[j]);
    }
  }
  node_counts_.resize(first.size());
  rack_counts_.resize(racks.size());
}

Map::Group Map::leaders(int level) const {
  if (levels_ <= 1) return Group::nodes;
  return level == 0 ? Group::racks : Group::nodes_of_rack;
}

Map::Flows Map::counted(const Place& of, Pattern pattern, Rank distance, Rank root) {
  Flows flows;
  const Rank p = of.ranks;
  const auto at = [](std::int32_t number) { return static_cast<std::size_t>(number); };
  double counted = 0;
  const auto count = [&](Rank from, Rank to) {
    ++counted;
    const Rank a = of.members.empty() ? from : of.members[at(from)];
    const Rank b = of.members.empty() ? to : of.members[at(to)];
    const std::array nodes = {topology_->domain_number(levels_, a), topology_->domain_number(levels_, b)};
    if (nodes[0] == nodes[1]) return;
    ++flows.outside;
    touched_nodes_.insert(touched_nodes_.end(), nodes.begin(), nodes.end());
    flows.leaving = std::max<double>(flows.leaving, ++node_counts_[at(nodes[0])][0]);
    flows.leaving = std::max<double>(flows.leaving, ++node_counts_[at(nodes[1])][1]);
    const std::array racks = {rack_of(a), rack_of(b)};
    if (racks[0] == racks[1]) return;
    ++flows.far;
    touched_racks_.insert(touched_racks_.end(), racks.begin(), racks.end());
    flows.climbing = std::max<double>(flows.climbing, ++rack_counts_[at(racks[0])][0]);
    flows.climbing = std::max<double>(flows.climbing, ++rack_counts_[at(racks[1])][1]);
  };
  const auto from_root = [&](std::int64_t number) { return static_cast<Rank>((root + number) % p); };
  double all = 0;
  if (pattern == Pattern::tree) {
    const std::int64_t stride = 2 * std::int64_t{distance};
    const std::int64_t messages = p > distance ? (p - distance + stride - 1) / stride : 0;
    const std::int64_t some = std::min<std::int64_t>(messages, most_counted_);
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t number = i * messages / some * stride;
      count(from_root(number), from_root(number + distance));
    }
    all = static_cast<double>(messages);
  } else {
    for (const Rank rank : of.sample) {
      const std::int64_t to = pattern == Pattern::shift ? (std::int64_t{rank} + distance) % p : rank ^ distance;
      if (to < p) count(rank, static_cast<Rank>(to));
    }
    all = std::max<double>(1, counted) * p / std::max<double>(1, static_cast<double>(of.sample.size()));
  }
  for (const std::int32_t node : touched_nodes_) node_counts_[at(node)] = {};
  for (const std::int32_t rack : touched_racks_) rack_counts_[at(rack)] = {};
  touched_nodes_.clear();
  touched_racks_.clear();
  flows.messages = all;
  flows.climbing *= std::max(1.0, all / std::max(1.0, counted));
  if (counted > 0) {
    flows.outside /= counted;
    flows.far /= counted;
  }
  if (of.racks && *of.racks) {
    const Runs::Crossing crossing = of.racks->crossing(families(pattern, distance, p), root);
    flows.climbing = static_cast<double>(crossing.most);
    flows.far = static_cast<double>(crossing.all) / std::max(1.0, all);
    flows.outside = std::max(flows.outside, flows.far);
    if (crossing.most > 0) flows.leaving = std::max(flows.leaving, 1.0);
  }
  return flows;
}

Map::Flows Map::flows(Group group, Pattern pattern, Rank distance, Rank root) {
  const auto part = [](auto value) { return static_cast<std::uint64_t>(value); };
  const std::uint64_t hash =
      (part(group) + 4 * part(pattern) + 16 * part(distance) + 4099 * part(root)) * std::uint64_t{0x9e3779b97f4a7c15U};
  Known& one = known_[hash >> 56U];
  const bool same =
      one.known && one.group == group && one.pattern == pattern && one.distance == distance && one.root == root;
  if (!same) one = {true, group, pattern, distance, root, counted(place(group), pattern, distance, root)};
  return one.flows;
}

}  // namespace quadrille::cost
