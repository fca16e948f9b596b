#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"
#include "topology/topology.hpp"

// Schedules that stretch the description beyond messages: what shared memory, one-sided windows and composition will
// be made of. Each is a bcast by its contract, but for the last, an alltoallv.
namespace quadrille::stretch {

// Through the root's shared-memory slot, which holds two segments: the root fills one while the others read the other.
Schedule shared_memory_bcast(const Problem& problem);

// Down a binomial tree by put, flush and notify. A child says when its slot is free.
Schedule one_sided_bcast(const Problem& problem);

// A chain between nodes, a binomial tree inside, both in the same pipeline; by composition.
Schedule two_level_bcast(const Problem& problem);

// The same with racks above the nodes.
Schedule three_level_bcast(const Problem& problem);
Topology racks(Rank ranks, Rank per_node, Rank nodes_per_rack);

// In place, with symmetric counts that the builder does not know, in chunks through a bounce buffer for two of them.
// The linear shift order of Hofmann and Ruenger.
Schedule in_place_alltoallv(const Problem& problem);
std::int64_t in_place_alltoallv_scratch(const Problem& problem);

}  // namespace quadrille::stretch
