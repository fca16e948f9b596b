// Each rank says hello, and all of them learn how many there are and what the last one says.

#include <mpi.h>

#include <cstdio>
#include <quadrille/quadrille.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  {
    quadrille::Communicator comm(MPI_COMM_WORLD);
    const int ranks = comm.allreduce(1, quadrille::sum);
    const int last = comm.allreduce(comm.rank(), quadrille::max);
    if (comm.rank() == 0) std::printf("hello from %d ranks, the last is %d\n", ranks, last);
    status = ranks == comm.size() && last == ranks - 1 ? 0 : 1;
  }
  MPI_Finalize();
  return status;
}
