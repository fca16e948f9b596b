#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace quadrille::bench {

// Tells MPICH's launcher that this rank has finished, as MPI_Finalize would (PMI-1). One that ends without a word is
// taken for dead, and the ranks beside it that have not ended yet are killed.
inline void take_leave_of_launcher() {
  const char* const descriptor = std::getenv("PMI_FD");
  if (!descriptor) return;
  constexpr std::string_view finalize = "cmd=finalize\n";
  const int launcher = std::atoi(descriptor);
  if (write(launcher, finalize.data(), finalize.size()) < 0) return;
  char answer = 0;
  while (read(launcher, &answer, 1) == 1 && answer != '\n') continue;
}

// Ends the program; all ranks call it. Between nodes MPICH 4.0 over UCX may hang in MPI_Finalize, so there it is left
// out. With 4.2 it does not hang.
inline int finalize(bool several_nodes, int status) {
#if defined(MPICH) && MPICH_NUMVERSION < 40200000
  if (several_nodes) {
    PMPI_Barrier(MPI_COMM_WORLD);
    std::fflush(nullptr);
    take_leave_of_launcher();
    _exit(status);
  }
#else
  static_cast<void>(several_nodes);
#endif
  MPI_Finalize();
  return status;
}

}  // namespace quadrille::bench
