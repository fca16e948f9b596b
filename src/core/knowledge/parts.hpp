#pragma once

#include <vector>

#include "knowledge/library.hpp"
#include "schedule/group.hpp"
#include "topology/topology.hpp"

namespace quadrille::knowledge {

// Ranks that run a step together, and which of them is its root.
struct Part {
  Group ranks;
  Rank root = 0;  // within the group

  // The call of the step as these ranks make it.
  Case asked(const Step& step) const;
};

// All of them. Without a topology each rank is on a node of its own.
std::vector<Part> parts_of(const Step& step, const Topology* topology);

// Where the ranks of a group are.
Topology topology_of(const Group& group, const Topology& whole);

}  // namespace quadrille::knowledge
