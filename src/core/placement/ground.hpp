#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cost/model.hpp"
#include "schedule/data.hpp"
#include "topology/places.hpp"

namespace quadrille::placement {

// A slot, node, rack or rank as an index.
inline std::size_t index(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

// The slot of each rank.
using Placement = std::vector<std::int32_t>;

// Where ranks may run: the slots that a scheduler has granted, on nodes, which are in racks.
struct Ground {
  std::vector<std::int32_t> node_of;  // by slot; those of a node follow one another
  std::vector<std::int32_t> rack_of;  // by node
  std::vector<double> slower;         // by node: times as long as usual that a byte takes on its link; none: 1
  cost::Model model;

  // As many nodes in each rack, the last one may have fewer; as many slots on each node.
  static Ground of(std::int32_t nodes, std::int32_t slots, std::int32_t racks, const cost::Model& model);

  std::int32_t slots() const { return static_cast<std::int32_t>(node_of.size()); }
  std::int32_t nodes() const { return static_cast<std::int32_t>(rack_of.size()); }
  std::int32_t racks() const;

  // Ranks one after another on a node, then on the next; and each on another node in turn.
  Placement block(Rank ranks) const;
  Placement cyclic(Rank ranks) const;

  std::vector<Place> places(const Placement& placement) const;
};

}  // namespace quadrille::placement
