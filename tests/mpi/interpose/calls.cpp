// A program that knows nothing of the drop-in: collectives and blocking messages, checked. calls [bcasts]
//
// With `time`: what a barrier of one rank costs, which is passed through.
// With `corners`: what is rare, or wrong and to be refused by MPI itself.
// With `grid`: on communicators with names, some of which are no names for a page.
// With `names`: on 300 communicators, each with a name of its own.
// With `churn`: 100,000 calls on 100 communicators, and by how many bytes some of them left the heap larger.
// With `late`: the last rank comes late.
// With `in finalize`: an allreduce when MPI_Finalize has begun.

#include <malloc.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
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

void nobody() {
  MPI_Status status;
  int got = 7;
  MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
  expect(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && got == 7, "Recv from nobody");
  MPI_Sendrecv(&got, 1, MPI_INT, MPI_PROC_NULL, 5, &got, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
  expect(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG, "Sendrecv with nobody");
  MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
  expect(status.MPI_SOURCE == MPI_PROC_NULL, "Probe of nobody");
}

// A call that MPI refuses leaves the communicator as it was.
void refused() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  double value = 1;
  double all = 0;
  expect(MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_BAND, comm) != MPI_SUCCESS, "Allreduce of bits of doubles");
  expect(MPI_Bcast(&value, -1, MPI_DOUBLE, 0, comm) != MPI_SUCCESS, "Bcast of fewer than none");
  expect(MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS && all >= 1, "Allreduce afterwards");
#ifdef OPEN_MPI
  expect(MPI_Allreduce(&value, &value, 1, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS && value == all,
         "Allreduce with one buffer twice");
#endif
  MPI_Comm_free(&comm);
}

// Each rank sends only to the next; MPICH takes any type for blocks of nothing.
void some_blocks(int rank, int size) {
  std::vector<int> sent_counts(static_cast<std::size_t>(size), 0);
  std::vector<int> got_counts = sent_counts;
  const std::vector<int> starts = sent_counts;
#ifdef OPEN_MPI
  std::vector<MPI_Datatype> types(sent_counts.size(), MPI_INT);
  std::vector<MPI_Datatype> got_types = types;
#else
  std::vector<MPI_Datatype> types(sent_counts.size(), MPI_DATATYPE_NULL);
  std::vector<MPI_Datatype> got_types = types;
#endif
  const auto next = static_cast<std::size_t>((rank + 1) % size);
  const auto before = static_cast<std::size_t>((rank + size - 1) % size);
  sent_counts[next] = got_counts[before] = 1;
  types[next] = got_types[before] = MPI_INT;
  int got = -1;
  MPI_Alltoallw(&rank, sent_counts.data(), starts.data(), types.data(), &got, got_counts.data(), starts.data(),
                got_types.data(), MPI_COMM_WORLD);
  expect(got == static_cast<int>(before), "Alltoallw with types for some blocks alone");
}

// The two sides of an intercommunicator have counts for each other's ranks, not for their own.
void two_sides(int rank, int size) {
  if (size < 2) return;
  MPI_Comm side = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  const int mine = rank == 0 ? 0 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, mine == 0 ? 1 : 0, 9, &both);
  int others = 0;
  MPI_Comm_remote_size(both, &others);
  const std::vector<int> counts(static_cast<std::size_t>(others), 1);
  std::vector<int> starts(counts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = static_cast<int>(i * sizeof(int));
  const std::vector<MPI_Datatype> types(counts.size(), MPI_INT);
  const std::vector<int> sent(counts.size(), rank);
  std::vector<int> got(counts.size(), -1);
  MPI_Alltoallw(sent.data(), counts.data(), starts.data(), types.data(), got.data(), counts.data(), starts.data(),
                types.data(), both);
  expect(got.front() == (mine == 0 ? 1 : 0), "Alltoallw between two sides");
  MPI_Comm_free(&both);
  MPI_Comm_free(&side);
}

long long bytes_in_use() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<long long>(heap.uordblks + heap.hblkhd);
}

// A thousand calls on a communicator that is made for them: of all kinds, roots, and some sizes.
void thousand_calls(int turn) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (turn % 2 == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  } else {
    MPI_Comm_split(MPI_COMM_WORLD, 0, -turn, &comm);
  }
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  constexpr int most = 1000;
  std::vector<int> sent(static_cast<std::size_t>(most * size), 1);
  std::vector<int> got(sent.size());
  std::vector<int> counts(static_cast<std::size_t>(size));
  std::vector<int> starts(counts.size());
  for (int i = 0; i < 100; ++i) {
    const int count = i % 10 == 0 ? most : i % 7;
    const int root = i % size;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      counts[r] = count;
      starts[r] = most * static_cast<int>(r);
    }
    int* const in = sent.data();
    int* const out = got.data();
    MPI_Barrier(comm);
    MPI_Bcast(out, count, MPI_INT, root, comm);
    MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
    MPI_Allreduce(in, out, count, MPI_INT, MPI_MAX, comm);
    MPI_Gatherv(in, count, MPI_INT, out, counts.data(), starts.data(), MPI_INT, root, comm);
    MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm);
    MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
    MPI_Alltoallv(in, counts.data(), starts.data(), MPI_INT, out, counts.data(), starts.data(), MPI_INT, comm);
    MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, comm);
    MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm);
    expect(count == 0 || out[0] == rank + 1, "Scan");
  }
  MPI_Comm_free(&comm);
}

// Bytes by which twenty communicators left the heap larger, the least of four times after the first twenty: what each
// leaves behind shows every time, what MPI takes once does not.
long long churn() {
  constexpr int communicators = 100;
  constexpr int group = 20;
  long long least = std::numeric_limits<long long>::max();
  long long before = 0;
  for (int i = 0; i < communicators; ++i) {
    thousand_calls(i);
    if ((i + 1) % group != 0) continue;
    const long long now = bytes_in_use();
    if (i >= group) least = std::min(least, now - before);
    before = now;
  }
  return least;
}

// Ends MPI when the program's global objects go, as some C++ libraries do.
struct AfterMain {
  bool wanted = false;
  ~AfterMain() {
    if (!wanted) return;
    clearenv();
    if (chdir("/") == 0) MPI_Finalize();
  }
} after_main;

}  // namespace

void names() {
  for (int i = 0; i < 300; ++i) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, ("name " + std::to_string(i)).c_str());
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
  }
}

// Rows and columns of two ranks, a name that markup would have escaped, and communicators without one.
void grid(int rank) {
  MPI_Comm row = MPI_COMM_NULL;
  MPI_Comm column = MPI_COMM_NULL;
  MPI_Comm odd = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
  MPI_Comm_dup(MPI_COMM_WORLD, &odd);
  MPI_Comm_set_name(odd, "</td><script>alert(1)</script>\x1b[31m\xff");
  MPI_Barrier(row);
  MPI_Comm_set_name(row, "row");  // after its first call
  MPI_Comm_set_name(column, "column");
  int sum = 0;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, column);
  MPI_Barrier(odd);
  MPI_Barrier(MPI_COMM_SELF);
  for (int i = 0; i < 10; ++i) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
  }
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
}

// MPI calls it in MPI_Finalize, when the drop-in has ended.
int sum_ranks(MPI_Comm, int, void*, void*) {
  int rank = 0;
  int size = 0;
  int sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == size * (size - 1) / 2, "Allreduce in MPI_Finalize");
  if (rank == 0) std::printf("%d faults\n", faults);
  return MPI_SUCCESS;
}

void in_finalize() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_ranks, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  int value = 1;
  for (int i = 0; i < 40; ++i) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

// The last rank comes late to an allreduce, four times.
void come_late(int rank, int size) {
  for (int i = 0; i < 4; ++i) {
    int sum = 0;
    if (rank == size - 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == size * (size - 1) / 2, "late Allreduce");
  }
}

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
  if (argc > 1 && std::string_view(argv[1]) == "corners") {
    nobody();
    refused();
    some_blocks(rank, size);
    two_sides(rank, size);
    messages(rank, size);
    if (rank == 0) std::printf("%d faults\n", faults);
    MPI_Finalize();
    return faults == 0 ? 0 : 1;
  }
  const std::string_view mode(argc > 1 ? argv[1] : "");
  if (mode == "late") {
    come_late(rank, size);
    if (rank == 0) std::printf("%d faults\n", faults);
    MPI_Finalize();
    return faults == 0 ? 0 : 1;
  }
  if (mode == "in finalize") {
    in_finalize();
    MPI_Finalize();
    return faults == 0 ? 0 : 1;
  }
  if (mode == "grid" || mode == "names") {
    mode == "grid" ? grid(rank) : names();
    if (rank == 0) std::printf("%d faults\n", faults);
    MPI_Finalize();
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "churn") {
    const long long more = churn();
    std::printf("%lld\n", more);
    MPI_Finalize();
    return faults == 0 ? 0 : 1;
  }
  if (argc > 1 && std::string_view(argv[1]) == "after main") after_main.wanted = true;
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
  if (!after_main.wanted) MPI_Finalize();
  return faults == 0 ? 0 : 1;
}
