/* A Fourier transform in two dimensions that needs one buffer, and back again: fft N [MIB]. Plain MPI, for the drop-in:
   nothing in it is Quadrille's. The matrix is N x N, its rows are dealt over the ranks; between the two passes over
   rows and columns it is transposed by MPI_Alltoallw in place. With MIB, no rank may allocate more than that beside its
   rows: MPI's own exchange then runs out of memory. N is a power of two, and a multiple of the number of ranks. */

#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int rank, ranks, size, rows; /* the matrix has size x size elements, rows x size of them here */
static double complex *data, *roots;
static double in_exchange;

/* Cooley and Tukey's, on one row; sign is -1 forward, 1 back. */
static void transform(double complex* row, int sign) {
  for (int i = 1, j = 0; i < size; ++i) {
    int bit = size >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    const double complex swapped = row[i];
    row[i] = row[j];
    row[j] = swapped;
  }
  for (int half = 1; half < size; half *= 2) {
    for (int i = 0; i < size; i += 2 * half) {
      for (int k = 0; k < half; ++k) {
        const double complex root = roots[k * (size / half / 2)];
        const double complex odd = row[i + k + half] * (sign < 0 ? root : conj(root));
        row[i + k + half] = row[i + k] - odd;
        row[i + k] += odd;
      }
    }
  }
}

/* Swaps square tiles of rows x rows elements between all pairs of ranks, then turns each tile over. */
static int transpose(const int* counts, const int* places, const MPI_Datatype* tiles) {
  const double begin = MPI_Wtime();
  const int code = MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, places, tiles, MPI_COMM_WORLD);
  in_exchange += MPI_Wtime() - begin;
  for (int tile = 0; tile < ranks; ++tile) {
    double complex* first = data + (size_t)tile * rows;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < i; ++j) {
        const double complex swapped = first[(size_t)i * size + j];
        first[(size_t)i * size + j] = first[(size_t)j * size + i];
        first[(size_t)j * size + i] = swapped;
      }
    }
  }
  return code;
}

static double complex value(long element) {
  return (double)(element * 7919 % 1009) + I * (double)(element * 104729 % 1013);
}

/* From now on malloc fails beyond so many MiB more. */
static void limit_memory(long mib) {
  char line[256];
  long used = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, "VmData:", 7) == 0) used = strtol(line + 7, NULL, 10);
  }
  fclose(file);
  const rlim_t bytes = ((rlim_t)used << 10) + ((rlim_t)mib << 20);
  const struct rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_DATA, &limit);
}

static int forth_and_back(const int* counts, const int* places, const MPI_Datatype* tiles) {
  int code = MPI_SUCCESS;
  for (int sign = -1; sign <= 1 && code == MPI_SUCCESS; sign += 2) {
    for (int row = 0; row < rows; ++row) transform(data + (size_t)row * size, sign);
    code = transpose(counts, places, tiles);
    for (int row = 0; row < rows; ++row) transform(data + (size_t)row * size, sign);
  }
  return code;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  size = argc > 1 ? atoi(argv[1]) : 1024;
  if (size < 2 || (size & (size - 1)) || size % ranks) {
    if (rank == 0) fprintf(stderr, "fft: %d is no power of two, or no multiple of %d ranks\n", size, ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  rows = size / ranks;
  const long elements = (long)rows * size;
  data = malloc(elements * sizeof *data);
  roots = malloc(size / 2 * sizeof *roots);
  for (int k = 0; k < size / 2; ++k) roots[k] = cexp(-2 * acos(-1) * I * k / size);
  for (long i = 0; i < elements; ++i) data[i] = value(rank * elements + i);
  int* counts = malloc(2 * ranks * sizeof *counts);
  MPI_Datatype* tiles = malloc(ranks * sizeof *tiles);
  MPI_Datatype tile;
  MPI_Type_vector(rows, rows, size, MPI_C_DOUBLE_COMPLEX, &tile);
  MPI_Type_commit(&tile);
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = 1;
    counts[ranks + peer] = peer * rows * (int)sizeof *data;
    tiles[peer] = tile;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2) limit_memory(atol(argv[2]));

  const double begin = MPI_Wtime();
  const int code = forth_and_back(counts, counts + ranks, tiles);
  double times[2] = {MPI_Wtime() - begin, in_exchange}, slowest[2];
  double error = 0, largest = 0;
  for (long i = 0; i < elements; ++i) {
    error = fmax(error, cabs(data[i] / ((double)size * size) - value(rank * elements + i)));
  }
  int failed = code != MPI_SUCCESS, any_failed = 0;
  MPI_Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(times, slowest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const int right = !any_failed && largest < 1e-6;
  if (rank == 0 && any_failed) printf("the exchange failed: not enough memory\n");
  if (rank == 0 && !any_failed) {
    printf("%d x %d on %d ranks, %ld MiB each: %s; exchange %.3f s of %.3f s\n", size, size, ranks,
           (long)(elements * sizeof *data) >> 20, right ? "right" : "wrong", slowest[1], slowest[0]);
  }
  MPI_Type_free(&tile);
  MPI_Finalize();
  return right ? 0 : 1;
}
