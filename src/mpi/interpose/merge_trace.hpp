#pragma once

#include "trace/trace.hpp"

namespace quadrille::interpose {

// Collective over MPI_COMM_WORLD, by a binomial tree: rank 0 has what all ranks have recorded.
void merge_over_tree(trace::Trace& trace, int rank, int ranks);

}  // namespace quadrille::interpose
