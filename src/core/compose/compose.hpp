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

// A level of a hierarchy above its innermost domains, as a rank that takes part in it sees it: the leaders of the
// domains one level further in, as far as they are in the same domain here, and who of them speaks for all.
struct Level {
  std::int32_t number = 0;
  Group leaders;
  Rank leader = 0;  // a rank of the communicator; at the top the problem's root
};
// Those that the problem's rank takes part in, from the top down.
std::vector<Level> levels_of(const Problem& problem);

}  // namespace quadrille::compose
