/* The same in C. */

#include <quadrille/quadrille.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int one = 1, ranks = 0, rank = 0, last = 0;
  quadrille_comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int code = quadrille_comm_create(MPI_COMM_WORLD, &comm);
  if (code == MPI_SUCCESS) code = quadrille_allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, comm, NULL);
  if (code == MPI_SUCCESS) code = quadrille_allreduce(&rank, &last, 1, MPI_INT, MPI_MAX, comm, NULL);
  if (code != MPI_SUCCESS) fprintf(stderr, "%s\n", quadrille_error_text());
  if (rank == 0) printf("hello from %d ranks, the last is %d\n", ranks, last);
  quadrille_comm_free(&comm);
  MPI_Finalize();
  return code == MPI_SUCCESS && last == ranks - 1 ? 0 : 1;
}
