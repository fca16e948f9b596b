/* A program that knows nothing of the drop-in and has hardly any memory left: tight MIB MIB_LEFT. Swaps so many MiB in
   place by MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw, and says how many of them did not work. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int rank, size;
static long elements; /* of a block */
static int* data;

static int value(int from, int to, long i) {
  return (from * 64 + to) * 1000 + (int)(i % 1000);
}

static void fill(void) {
  for (int peer = 0; peer < size; ++peer) {
    for (long i = 0; i < elements; ++i) data[peer * elements + i] = value(rank, peer, i);
  }
}

static int wrong(int code) {
  int bad = code != MPI_SUCCESS;
  for (int peer = 0; peer < size && !bad; ++peer) {
    for (long i = 0; i < elements && !bad; ++i) bad = data[peer * elements + i] != value(peer, rank, i);
  }
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return bad;
}

/* Of /proc/self/status, in KiB. */
static long status(const char* name) {
  char line[256];
  long found = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, name, strlen(name)) == 0) found = strtol(line + strlen(name), NULL, 10);
  }
  fclose(file);
  return found;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const long bytes = atol(argv[1]) << 20;
  elements = bytes / size / (long)sizeof(int);
  data = malloc(bytes);
  int* counts = malloc(3 * size * sizeof(int));
  int *starts = counts + size, *places = starts + size;
  MPI_Datatype* types = malloc(size * sizeof(MPI_Datatype));
  for (int peer = 0; peer < size; ++peer) {
    counts[peer] = (int)elements;
    starts[peer] = (int)(peer * elements);
    places[peer] = (int)(peer * elements * sizeof(int));
    types[peer] = MPI_INT;
  }
  fill();
  MPI_Barrier(MPI_COMM_WORLD);
  const rlim_t limit = (rlim_t)(status("VmData:") + (atol(argv[2]) << 10)) << 10;
  const struct rlimit both = {limit, limit};
  setrlimit(RLIMIT_DATA, &both);
  int failed = wrong(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, (int)elements, MPI_INT, MPI_COMM_WORLD));
  fill();
  failed +=
      wrong(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, starts, MPI_INT, MPI_COMM_WORLD));
  fill();
  failed += wrong(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, places, types, MPI_COMM_WORLD));
  if (rank == 0)
    printf("%d of 3 failed; %ld MiB of data, at most %ld MiB resident\n", failed, bytes >> 20, status("VmHWM:") >> 10);
  MPI_Finalize();
  return failed != 0;
}
