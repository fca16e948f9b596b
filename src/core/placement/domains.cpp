#include "placement/domains.hpp"

#include <algorithm>
#include <numeric>

namespace quadrille::placement {

namespace {

void sort(std::vector<Domain>& domains) {
  std::stable_sort(domains.begin(), domains.end(), [](const Domain& a, const Domain& b) {
    return a.slower != b.slower ? a.slower < b.slower : a.slots.size() > b.slots.size();
  });
}

// A rack is as slow as its slowest node.
void add(Domain& rack, const Domain& node) {
  rack.slots.insert(rack.slots.end(), node.slots.begin(), node.slots.end());
  rack.slower = std::max(rack.slower, node.slower);
}

void place(const Mapping& mapping, const std::vector<Rank>& ranks, const Domain& node, Placement& placement) {
  std::vector<std::int32_t> free = node.slots;
  for (const Rank rank : ranks) {
    const std::int32_t slot = fixed_slot(mapping, rank);
    if (slot < 0) continue;
    placement[index(rank)] = slot;
    free.erase(std::find(free.begin(), free.end(), slot));
  }
  auto next = free.begin();
  for (const Rank rank : ranks) {
    if (fixed_slot(mapping, rank) < 0) placement[index(rank)] = *next++;
  }
}

}  // namespace

std::vector<std::int32_t> domains_of_slots(const Mapping& mapping, const std::vector<Domain>& domains) {
  std::vector<std::int32_t> of(mapping.ground.node_of.size(), -1);
  for (std::size_t domain = 0; domain < domains.size(); ++domain) {
    for (const std::int32_t slot : domains[domain].slots) of[index(slot)] = static_cast<std::int32_t>(domain);
  }
  return of;
}

Placement by_domains(const Mapping& mapping, const Divide& divide) {
  const Ground& ground = mapping.ground;
  std::vector<Domain> nodes(ground.rack_of.size());
  for (std::size_t slot = 0; slot < ground.node_of.size(); ++slot) {
    nodes[index(ground.node_of[slot])].slots.push_back(static_cast<std::int32_t>(slot));
  }
  for (std::size_t node = 0; node < ground.slower.size(); ++node) nodes[node].slower = ground.slower[node];
  std::vector<std::vector<Domain>> nodes_of(index(ground.racks()));
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (!nodes[node].slots.empty()) nodes_of[index(ground.rack_of[node])].push_back(nodes[node]);
  }
  std::erase_if(nodes_of, [](const std::vector<Domain>& rack) { return rack.empty(); });

  std::vector<Domain> racks;
  for (std::vector<Domain>& inside : nodes_of) {
    sort(inside);
    racks.emplace_back();
    for (const Domain& node : inside) add(racks.back(), node);
  }
  sort(racks);
  std::vector<Rank> all(index(mapping.ranks()));
  std::iota(all.begin(), all.end(), 0);
  Placement placement(all.size(), -1);
  const Division in_racks = divide(all, racks);
  for (std::size_t rack = 0; rack < racks.size(); ++rack) {
    const std::vector<Domain>& inside = *std::find_if(nodes_of.begin(), nodes_of.end(), [&](const auto& of) {
      return of.front().slots.front() == racks[rack].slots.front();
    });
    const Division on_nodes = divide(in_racks[rack], inside);
    for (std::size_t node = 0; node < inside.size(); ++node) place(mapping, on_nodes[node], inside[node], placement);
  }
  return placement;
}

}  // namespace quadrille::placement
