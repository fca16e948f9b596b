// Preloaded: a barrier that lets odd ranks go 2 ms late, by both of its names. A benchmark that starts by it would
// measure the lateness.

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

extern "C" int PMPI_Barrier(MPI_Comm comm) {
  static const auto next = reinterpret_cast<int (*)(MPI_Comm)>(dlsym(RTLD_NEXT, "PMPI_Barrier"));
  const int code = next(comm);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank % 2 == 1) usleep(2000);
  return code;
}

extern "C" int MPI_Barrier(MPI_Comm comm) {
  return PMPI_Barrier(comm);
}
