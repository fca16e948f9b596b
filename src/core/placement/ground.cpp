#include "placement/ground.hpp"

#include <algorithm>
#include <numeric>

namespace quadrille::placement {

Ground Ground::of(std::int32_t nodes, std::int32_t slots, std::int32_t racks, const cost::Model& model) {
  Ground ground{.node_of = {}, .rack_of = {}, .slower = {}, .model = model};
  const std::int32_t in_rack = (nodes + racks - 1) / racks;
  for (std::int32_t node = 0; node < nodes; ++node) {
    ground.rack_of.push_back(node / in_rack);
    ground.node_of.insert(ground.node_of.end(), static_cast<std::size_t>(slots), node);
  }
  return ground;
}

std::int32_t Ground::racks() const {
  return rack_of.empty() ? 0 : *std::max_element(rack_of.begin(), rack_of.end()) + 1;
}

Placement Ground::block(Rank ranks) const {
  Placement placement(index(ranks));
  std::iota(placement.begin(), placement.end(), 0);
  return placement;
}

Placement Ground::cyclic(Rank ranks) const {
  std::vector<std::int32_t> next(rack_of.size());  // by node: its first free slot
  std::vector<std::int32_t> end(rack_of.size());
  for (std::int32_t slot = slots() - 1; slot >= 0; --slot) {
    const auto node = static_cast<std::size_t>(node_of[index(slot)]);
    next[node] = slot;
    if (end[node] == 0) end[node] = slot + 1;
  }
  Placement placement;
  for (std::size_t node = 0; placement.size() < index(ranks); node = (node + 1) % next.size()) {
    if (next[node] < end[node]) placement.push_back(next[node]++);
  }
  return placement;
}

std::vector<Place> Ground::places(const Placement& placement) const {
  const bool in_racks = racks() > 1;
  std::vector<Place> all;
  for (const std::int32_t slot : placement) {
    const std::int32_t node = node_of[index(slot)];
    const std::int32_t rack = in_racks ? rack_of[index(node)] + 1 : 0;
    all.push_back({static_cast<std::uint64_t>(node), static_cast<std::uint32_t>(rack)});
  }
  return all;
}

}  // namespace quadrille::placement
