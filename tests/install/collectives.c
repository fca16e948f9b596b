// A plain MPI program without Quadrille. Calls some collectives, each a different number of times, and exits with 1 if
// a result is wrong.

#include <mpi.h>
#include <stdlib.h>

static int rank;
static int ranks;

static int bcast_is_right(int root) {
  int value = rank == root ? 1000 + root : -1;
  MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
  return value == 1000 + root;
}

static int allreduce_is_right(void) {
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum == ranks * (ranks - 1) / 2;
}

static int alltoallv_is_right(void) {
  int right = 1;
  int* numbers = malloc(4 * (size_t)ranks * sizeof *numbers);
  int* input = numbers;
  int* output = numbers + ranks;
  int* counts = numbers + 2 * ranks;
  int* displacements = numbers + 3 * ranks;
  for (int peer = 0; peer < ranks; ++peer) {
    input[peer] = rank * ranks + peer;
    counts[peer] = 1;
    displacements[peer] = peer;
  }
  MPI_Alltoallv(input, counts, displacements, MPI_INT, output, counts, displacements, MPI_INT, MPI_COMM_WORLD);
  for (int peer = 0; peer < ranks; ++peer) right &= output[peer] == peer * ranks + rank;
  free(numbers);
  return right;
}

int main(int argc, char** argv) {
  int right = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int root = 0; root < 2; ++root) right &= bcast_is_right(root);
  for (int i = 0; i < 3; ++i) right &= allreduce_is_right();
  for (int i = 0; i < 4; ++i) right &= alltoallv_is_right();
  MPI_Finalize();
  return right ? 0 : 1;
}
