#pragma once

#include <mpi.h>

#include <string>

namespace quadrille::bench {

// Says on rank 0 which ranks are not on the hosts that a launcher's file puts them on. Returns the exit status: 1 if
// there are any, 2 if the file can't be read or is of another number of ranks. To be called by all.
int verify_placement(MPI_Comm comm, const std::string& file);

}  // namespace quadrille::bench
