#pragma once

#include <mpi.h>

#include <vector>

namespace quadrille::interpose {

// Those that a rank of a process topology sends to in a neighbourhood collective, in the order of its blocks; negative
// where there is none. None of a communicator without a topology.
std::vector<int> neighbours_sent_to(MPI_Comm comm, int rank);

}  // namespace quadrille::interpose
