#pragma once

#include <functional>
#include <vector>

#include "compose/problem.hpp"
#include "topology/topology.hpp"

// Schedules out of schedules. Parts follow one another by the data they share: what a part reads it waits for, so a
// sequence is the parts written one after another, and it is pipelined by cutting the data into segments around them.
namespace quadrille::compose {

using Part = std::function<void(Builder&, const Problem&)>;

// Builds `part` on a group: its members run it with the problem's rank, ranks and root translated, the others do
// nothing. A root that is not a member is -1 there: only a part without a root can do with that. Each part of a
// composition gets channels of its own.
void on(Builder& builder, const Group& group, std::int32_t channel, Problem problem, const Part& part);

// A broadcast down the levels of the problem's topology, from the whole communicator to the innermost domain, one part
// a level, pipelined by the problem's segment. Part `levels[i]` uses channel i.
void hierarchical_bcast(Builder& builder, const Problem& problem, const std::vector<Part>& levels);

}  // namespace quadrille::compose
