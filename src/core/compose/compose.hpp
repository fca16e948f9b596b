#pragma once

#include <functional>
#include <vector>

#include "compose/problem.hpp"
#include "topology/topology.hpp"

// Composition of schedules. Parts are ordered by the data they share: a part waits for what it reads, so a sequence is
// built part by part, and is pipelined by a segment loop around the parts.
namespace quadrille::compose {

using Part = std::function<void(Builder&, const Problem&)>;

// Builds `part` on a group: its members run it with the problem's rank, ranks and root translated, the others do
// nothing. A root that is not a member becomes -1, which only a part without a root accepts. Each part of a composition
// needs its own channels.
void on(Builder& builder, const Group& group, std::int32_t channel, Problem problem, const Part& part);

// A level of a hierarchy above the innermost domains, from the view of a participating rank: the leaders of the next
// inner domains within the same domain, and their own leader.
struct Level {
  std::int32_t number = 0;
  Group leaders;
  Rank leader = 0;  // in ranks of the communicator; at the top the problem's root
};
// The levels in which the problem's rank takes part, from the top down.
std::vector<Level> levels_of(const Problem& problem);

}  // namespace quadrille::compose
