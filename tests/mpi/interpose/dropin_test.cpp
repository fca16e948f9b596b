// The drop-in linked in: calls of MPI_Bcast and so on in this program are ours.

#include "interpose/dropin.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <vector>

namespace quadrille::interpose {

namespace {

// Before MPI_Init, which reads it.
const bool is_set = setenv("QUADRILLE_FORCE", "all", 1) == 0 && setenv("QUADRILLE_MEMORY", "64k", 1) == 0;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

std::int64_t served_by(Collective collective, const auto& call) {
  const std::int64_t before = DropIn::get().counted(collective, Outcome::replaced);
  call();
  return DropIn::get().counted(collective, Outcome::replaced) - before;
}

TEST(Waiting, TimedCallsStandForAllCalls) {
  Waiting waiting{.asks_after = 1 << 20};
  std::int64_t stand_for = 0;
  int timed = 0;
  for (int i = 0; i < 10000; ++i) {
    if (waiting.passes()) continue;
    waiting.count(1);
    waiting.look_ahead();
    stand_for += waiting.stands_for;
    timed += waiting.stands_for > 0 ? 1 : 0;
  }
  EXPECT_EQ(waiting.calls - waiting.plain, 10000);
  EXPECT_NEAR(static_cast<double>(stand_for), 10000, 2 * Waiting::seldom);
  EXPECT_LT(timed, 300);
}

TEST(Waiting, OneLateCallDoesNotStandForMany) {
  Waiting waiting{.calls = 61 * 100, .asks_after = 1 << 20, .spent = 1e-6 * 61 * 100};
  waiting.count(1);
  ASSERT_EQ(waiting.stands_for, Waiting::seldom);
  EXPECT_NEAR(waiting.most(), 10e-6, 1e-7);
  Waiting first{.asks_after = 1 << 20};
  first.count(1);
  EXPECT_GT(first.most(), 1e9);
}

// All ranks come to the call at which they ask each other by counting.
TEST(Waiting, NothingIsPassedWhenRanksAskEachOther) {
  for (const int after : {17, 40, 255, 256, 300, 5000}) {
    Waiting waiting{.asks_after = after};
    int calls = 0;
    do {
      ++calls;
      if (waiting.passes()) continue;
      waiting.count(1);
      if (waiting.asks_after > 0) waiting.look_ahead();
    } while (waiting.asks_after > 0 && calls < 10000);
    EXPECT_EQ(calls, after);
    EXPECT_EQ(waiting.plain, 0);
  }
}

TEST(DropIn, ServesWhatItIsToldTo) {
  ASSERT_TRUE(is_set);
  int value = rank_in(MPI_COMM_WORLD) == 0 ? 7 : 0;
  EXPECT_EQ(served_by(Collective::bcast, [&] { MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); }), 1);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(served_by(Collective::barrier, [] { MPI_Barrier(MPI_COMM_WORLD); }), 1);
}

constexpr int long_element = 20000;
void add_long_elements(void* left, void* right, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count * long_element; ++i) static_cast<double*>(right)[i] += static_cast<double*>(left)[i];
}

TEST(DropIn, HandsDownWhatDoesNotFitIntoMemory) {
  // One element is more than the bound, and can't be cut; MPI does it.
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Type_contiguous(long_element, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_long_elements, 1, &op);
  std::vector<double> data(long_element, 1);
  const std::int64_t served =
      served_by(Collective::allreduce, [&] { MPI_Allreduce(MPI_IN_PLACE, data.data(), 1, type, op, MPI_COMM_WORLD); });
  EXPECT_EQ(served, size_of(MPI_COMM_WORLD) == 1 ? 1 : 0);
  EXPECT_EQ(data.back(), size_of(MPI_COMM_WORLD));
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

TEST(DropIn, CutsWhatItMustIntoPiecesThatFit) {
  std::vector<double> data(100000, 1);
  const std::int64_t served = served_by(Collective::allreduce, [&] {
    MPI_Allreduce(MPI_IN_PLACE, data.data(), 100000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  });
  EXPECT_EQ(served, 1);
  EXPECT_EQ(data.back(), size_of(MPI_COMM_WORLD));
}

TEST(DropIn, ServesEveryBlockingCollective) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  const auto places = static_cast<std::size_t>(size);
  const std::vector<int> ones(places, 1);
  std::vector<int> steps(places);
  std::vector<int> bytes(places);
  const std::vector<MPI_Datatype> types(places, MPI_INT);
  for (std::size_t i = 0; i < places; ++i) {
    steps[i] = static_cast<int>(i);
    bytes[i] = static_cast<int>(i * sizeof(int));
  }
  std::vector<int> mine(places, rank);
  std::vector<int> all(places, -1);
  int value = rank + 1;
  int result = -1;
  const MPI_Comm world = MPI_COMM_WORLD;
  const int* const from = mine.data();
  int* const to = all.data();
  const auto expect = [](Collective collective, const auto& call) {
    EXPECT_EQ(served_by(collective, call), 1) << name(collective);
  };
  expect(Collective::reduce, [&] { MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 0, world); });
  EXPECT_TRUE(rank != 0 || result == size * (size + 1) / 2);
  expect(Collective::gather, [&] { MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, 0, world); });
  EXPECT_TRUE(rank != 0 || all == steps);
  expect(Collective::gatherv,
         [&] { MPI_Gatherv(from, 1, MPI_INT, to, ones.data(), steps.data(), MPI_INT, size - 1, world); });
  EXPECT_TRUE(rank != size - 1 || all == steps);
  expect(Collective::scatter, [&] { MPI_Scatter(steps.data(), 1, MPI_INT, &result, 1, MPI_INT, 0, world); });
  EXPECT_EQ(result, rank);
  expect(Collective::scatterv,
         [&] { MPI_Scatterv(bytes.data(), ones.data(), steps.data(), MPI_INT, &result, 1, MPI_INT, 0, world); });
  EXPECT_EQ(result, rank * static_cast<int>(sizeof(int)));
  all.assign(places, -1);
  expect(Collective::allgather, [&] { MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_INT, world); });
  EXPECT_EQ(all, steps);
  all.assign(places, -1);
  expect(Collective::allgatherv,
         [&] { MPI_Allgatherv(from, 1, MPI_INT, to, ones.data(), steps.data(), MPI_INT, world); });
  EXPECT_EQ(all, steps);
  all.assign(places, -1);
  expect(Collective::alltoall, [&] { MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, world); });
  EXPECT_EQ(all, steps);
  all.assign(places, rank);
  expect(Collective::alltoallv, [&] {
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, to, ones.data(), steps.data(), MPI_INT, world);
  });
  EXPECT_EQ(all, steps);
  all.assign(places, -1);
  expect(Collective::alltoallw, [&] {
    MPI_Alltoallw(from, ones.data(), bytes.data(), types.data(), to, ones.data(), bytes.data(), types.data(), world);
  });
  EXPECT_EQ(all, steps);
  expect(Collective::reduce_scatter,
         [&] { MPI_Reduce_scatter(steps.data(), &result, ones.data(), MPI_INT, MPI_SUM, world); });
  EXPECT_EQ(result, rank * size);
  expect(Collective::reduce_scatter_block,
         [&] { MPI_Reduce_scatter_block(steps.data(), &result, 1, MPI_INT, MPI_SUM, world); });
  EXPECT_EQ(result, rank * size);
  expect(Collective::scan, [&] { MPI_Scan(&value, &result, 1, MPI_INT, MPI_SUM, world); });
  EXPECT_EQ(result, (rank + 1) * (rank + 2) / 2);
  expect(Collective::exscan, [&] { MPI_Exscan(&value, &result, 1, MPI_INT, MPI_SUM, world); });
  EXPECT_TRUE(rank == 0 || result == rank * (rank + 1) / 2);
}

std::int64_t counted_by(Collective collective, Outcome outcome, const auto& call) {
  const std::int64_t before = DropIn::get().counted(collective, outcome);
  call();
  return DropIn::get().counted(collective, outcome) - before;
}

TEST(DropIn, HandsDownTheRestAndSaysWhy) {
  const auto at_once = [] {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  EXPECT_EQ(counted_by(Collective::barrier, Outcome::non_blocking, at_once), 1);
  if (size_of(MPI_COMM_WORLD) < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  const int first = rank_in(MPI_COMM_WORLD) == 0 ? 0 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, first, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - first, 7, &between);
  EXPECT_EQ(counted_by(Collective::barrier, Outcome::intercommunicator, [&] { MPI_Barrier(between); }), 1);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

TEST(DropIn, GivesTheErrorsOfMpi) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int value = 0;
  int code = MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD);
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_COUNT);
  code = MPI_Bcast(&value, 1, MPI_INT, size_of(MPI_COMM_WORLD), MPI_COMM_WORLD);
  MPI_Error_class(code, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_ROOT);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST(DropIn, DoesNotUseUpTheCommunicators) {
  // MPICH has 2048; each of ours takes one of them.
  std::vector<MPI_Comm> many(1900);
  std::int64_t served = 0;
  for (MPI_Comm& comm : many) {
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    served += served_by(Collective::barrier, [&] { MPI_Barrier(comm); });
  }
  EXPECT_GT(served, 100);
  EXPECT_LT(served, 140);
  for (MPI_Comm& comm : many) MPI_Comm_free(&comm);
  // And then there is room again.
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  EXPECT_EQ(served_by(Collective::barrier, [&] { MPI_Barrier(comm); }), 1);
  MPI_Comm_free(&comm);
}

}  // namespace

}  // namespace quadrille::interpose
