#pragma once

#include <span>
#include <vector>

#include "cost/model.hpp"
#include "placement/graph.hpp"
#include "topology/places.hpp"

namespace quadrille::placement {

// Processes stay where they are, and their ranks change instead.
struct Reordering {
  std::vector<Rank> number;  // by process: its new rank
  double gain = 0;           // the part of the predicted time that is saved; 0: none, and all keep their ranks
};

// So that ranks that send each other much are near. Processes are numbered as they are today, and are at these places.
// The same arguments, the same result.
Reordering reordering(std::span<const Sent> sent, std::span<const Place> places, const cost::Model& model);

}  // namespace quadrille::placement
