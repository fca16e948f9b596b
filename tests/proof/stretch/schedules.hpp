#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"
#include "topology/topology.hpp"

// Schedules that use more than messages: shared memory, one-sided operations and composition. Each is a bcast, except
// the last, an alltoallv.
namespace quadrille::stretch {

// Through the root's shared-memory slot, which holds two segments: the root fills one while the others read the other.
Schedule shared_memory_bcast(const Problem& problem);

// Down a binomial tree by put, flush and notify. A child signals when its slot is free.
Schedule one_sided_bcast(const Problem& problem);

// A chain between nodes, a binomial tree inside, both in the same pipeline; by composition.
Schedule two_level_bcast(const Problem& problem);

// The same with racks above the nodes.
Schedule three_level_bcast(const Problem& problem);
Topology racks(Rank ranks, Rank per_node, Rank nodes_per_rack);

// In place, with symmetric counts unknown to the builder, in chunks through a bounce buffer for two chunks. The linear
// shift order of Hofmann and Ruenger.
Schedule in_place_alltoallv(const Problem& problem);
std::int64_t in_place_alltoallv_scratch(const Problem& problem);

}  // namespace quadrille::stretch
