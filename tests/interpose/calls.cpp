// A program that knows nothing of the drop-in: collectives and blocking messages, checked. calls [bcasts]
//
// With `time`: what a barrier of one rank costs, which is handed down.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

namespace {

int faults = 0;

void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("wrong: %s\n", what);
  ++faults;
}

// Nanoseconds a call, the best of several rounds.
double barrier_of_one() {
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    constexpr int calls = 20000;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_SELF);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / calls);
  }
  return best;
}

void messages(int rank, int size) {
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  int token = rank;
  int got = -1;
  MPI_Status status;
  MPI_Sendrecv(&token, 1, MPI_INT, next, 1, &got, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &status);
  expect(got == before && status.MPI_SOURCE == before && status.MPI_TAG == 1, "Sendrecv");
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
      int count = 0;
      MPI_Get_count(&status, MPI_INT, &count);
      std::vector<int> data(static_cast<std::size_t>(count));
      MPI_Recv(data.data(), count, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(count == status.MPI_SOURCE && data.back() == count, "Probe and Recv");
    }
  } else {
    const std::vector<int> data(static_cast<std::size_t>(rank), rank);
    if (rank % 2 == 0) {
      MPI_Send(data.data(), rank, MPI_INT, 0, 2, MPI_COMM_WORLD);
    } else {
      MPI_Ssend(data.data(), rank, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
  }
  std::vector<MPI_Request> requests(4);
  std::vector<int> in(2, -1);
  MPI_Irecv(&in[0], 1, MPI_INT, before, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&rank, 1, MPI_INT, before, 4, MPI_COMM_WORLD, &requests[3]);
  int index = -1;
  MPI_Waitany(4, requests.data(), &index, MPI_STATUS_IGNORE);
  expect(index >= 0 && index < 4, "Waitany");
  int ended = 0;
  std::vector<int> indices(4);
  MPI_Waitsome(4, requests.data(), &ended, indices.data(), MPI_STATUSES_IGNORE);
  expect(ended >= 1 && ended <= 3, "Waitsome");
  MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
  expect(in[0] == before && in[1] == next, "Waitall");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && std::string_view(argv[1]) == "time") {
    std::printf("%.1f\n", barrier_of_one());
    MPI_Finalize();
    return 0;
  }
  const int bcasts = argc > 1 ? std::atoi(argv[1]) : 3;
  for (int i = 0; i < bcasts; ++i) {
    int value = rank == i % size ? i : -1;
    MPI_Bcast(&value, 1, MPI_INT, i % size, MPI_COMM_WORLD);
    expect(value == i, "Bcast");
  }
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == size * (size - 1) / 2, "Allreduce");
  // In place at the root alone.
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  all[static_cast<std::size_t>(rank)] = rank;
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : &rank, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> expected(all.size());
  std::iota(expected.begin(), expected.end(), 0);
  expect(rank != 0 || all == expected, "Gather");
  // A type of its own on one rank.
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  int both[2] = {rank == 0 ? 5 : 0, rank == 0 ? 6 : 0};
  if (rank == size - 1) {
    MPI_Bcast(both, 1, pair, 0, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(both, 2, MPI_INT, 0, MPI_COMM_WORLD);
  }
  expect(both[0] == 5 && both[1] == 6, "Bcast of a pair");
  MPI_Type_free(&pair);
  messages(rank, size);
  if (rank == 0) std::printf("%d faults\n", faults);
  MPI_Finalize();
  return faults == 0 ? 0 : 1;
}
