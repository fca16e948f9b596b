// Preloaded: a barrier that lets odd ranks go 2 ms late. A benchmark that starts by it would measure the lateness.

#include <mpi.h>
#include <unistd.h>

extern "C" int MPI_Barrier(MPI_Comm comm) {
  const int code = PMPI_Barrier(comm);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank % 2 == 1) usleep(2000);
  return code;
}
