// Several collectives at once, and what becomes of handles, types, operations and communicators.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include "api/world.hpp"
#include "engine/process.hpp"

namespace quadrille::test {

namespace {

TEST(InFlight, HandlesMayBeAwaitedInAnyOrder) {
  Communicator comm = world();
  std::vector<int> first(1000, comm.rank());
  std::vector<int> second(1000, comm.rank());
  std::vector<int> first_sum(1000);
  std::vector<int> second_sum(1000);
  Pending one = comm.iallreduce(first, first_sum, std::plus{});
  Pending two = comm.iallreduce(second, second_sum, std::plus{});
  if (comm.rank() % 2 == 0) {
    two.wait();
    one.wait();
  } else {
    one.wait();
    two.wait();
  }
  const int expected = comm.size() * (comm.size() - 1) / 2;
  EXPECT_EQ(first_sum.back(), expected);
  EXPECT_EQ(second_sum.back(), expected);
}

// A rank makes a communicator before it waits, another one after it has waited.
TEST(InFlight, CollectivesAdvanceWhileCommunicatorsAreMade) {
  Communicator a = world();
  std::vector<int> x(100000, a.rank());
  std::vector<int> sum(x.size());
  Pending pending = a.iallreduce(x, sum, std::plus{});
  if (a.rank() % 2 == 1) pending.wait();
  Communicator b(MPI_COMM_WORLD);
  if (a.rank() % 2 == 0) pending.wait();
  EXPECT_EQ(sum.back(), a.size() * (a.size() - 1) / 2);
  b.barrier();
}

// Even ranks wait for the one while odd ranks can't start it before the other has brought them its data, which is long
// enough to need both ends.
TEST(InFlight, TwoCommunicatorsAdvanceInEachOthersWaits) {
  Communicator a = world();
  Communicator b = world();
  std::vector<int> x(100000, a.rank());
  std::vector<int> y(100000, a.rank());
  if (a.rank() % 2 == 0) {
    Pending on_a = a.ibcast(x, a.size() - 1);
    Pending on_b = b.ibcast(y, 0);
    on_a.wait();
    on_b.wait();
  } else {
    Pending on_b = b.ibcast(y, 0);
    on_b.wait();
    Pending on_a = a.ibcast(x, a.size() - 1);
    on_a.wait();
  }
  EXPECT_EQ(x.back(), a.size() - 1);
  EXPECT_EQ(y.back(), 0);
}

TEST(InFlight, AThousandCollectivesAtOnce) {
  Communicator comm = world({{"QUADRILLE_SHUFFLE", "3"}});
  constexpr int many = 1000;
  std::vector<std::vector<int>> data(many, std::vector<int>(17));
  std::vector<int> sums(many);
  std::vector<int> ones(many, 1);
  std::vector<Pending> pending;
  for (int i = 0; i < many; ++i) {
    auto& mine = data[static_cast<std::size_t>(i)];
    const int root = i % comm.size();
    if (comm.rank() == root) std::fill(mine.begin(), mine.end(), i);
    const auto at = static_cast<std::size_t>(i);
    if (i % 3 == 0) {
      pending.push_back(comm.iallreduce(std::span(&ones[at], 1), std::span(&sums[at], 1), std::plus{}));
    } else if (i % 3 == 1) {
      pending.push_back(comm.ibcast(mine, root));
    } else {
      pending.push_back(comm.ibarrier());
    }
  }
  // Every rank waits in an order of its own.
  std::vector<std::size_t> order(pending.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(comm.rank())));
  for (std::size_t at : order) pending[at].wait();
  for (int i = 0; i < many; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(sums[at], i % 3 == 0 ? comm.size() : 0);
    if (i % 3 == 1) {
      EXPECT_EQ(data[at], std::vector<int>(17, i));
    }
  }
}

// More than there are lanes, of all kinds, beside messages.
TEST(InFlight, ManyThroughSharedMemoryAtOnce) {
  for (const char* shared : {"0", "4k", "48k"}) {
    Communicator comm = world({{"QUADRILLE_SHARED", shared}});
    constexpr std::int64_t many = 60;
    std::vector<std::vector<std::int64_t>> input(many);
    std::vector<std::vector<std::int64_t>> output(many);
    std::vector<Pending> pending;
    for (std::int64_t i = 0; i < many; ++i) {
      auto& in = input[static_cast<std::size_t>(i)];
      auto& out = output[static_cast<std::size_t>(i)];
      in.assign(i % 7 == 0 ? 3000 : 3, i + comm.rank());
      out.assign(in.size(), -1);
      const Options options{.algorithm = i % 3 == 2 ? "recursive_doubling" : "hierarchical"};
      pending.push_back(comm.iallreduce(in, out, std::plus{}, options));
      if (i % 5 == 0) pending.push_back(comm.ibarrier({.algorithm = "hierarchical"}));
    }
    while (!pending.empty()) pending.pop_back();  // waits, the newest first
    const std::int64_t ranks = comm.size();
    for (std::int64_t i = 0; i < many; ++i) {
      const auto& out = output[static_cast<std::size_t>(i)];
      const std::int64_t sum = ranks * i + ranks * (ranks - 1) / 2;
      EXPECT_TRUE(std::all_of(out.begin(), out.end(), [sum](std::int64_t one) { return one == sum; })) << i;
    }
  }
}

TEST(InFlight, APendingCollectiveGetsDoneByTests) {
  Communicator comm = world();
  std::vector<int> data(100000, comm.rank() == 0 ? 5 : 0);
  Pending pending = comm.ibcast(data, 0);
  while (!pending.test()) {
  }
  EXPECT_TRUE(pending.test());
  EXPECT_EQ(data.back(), 5);
}

TEST(InFlight, ADroppedHandleWaits) {
  Communicator comm = world();
  std::vector<int> data(1000, comm.rank() == 0 ? 5 : 0);
  { const Pending dropped = comm.ibcast(data, 0); }
  EXPECT_EQ(data.back(), 5);
}

TEST(InFlight, TheCommunicatorMayGoBeforeItsCollectives) {
  std::optional<Communicator> comm = world();
  const bool root = comm->rank() == 0;
  std::vector<int> data(1000, root ? 5 : 0);
  Pending pending = comm->ibcast(data, 0);
  comm.reset();
  pending.wait();
  EXPECT_EQ(data.back(), 5);
}

TEST(Persistent, RunsAsOftenAsItIsStarted) {
  Communicator comm = world();
  std::vector<int> input(100);
  std::vector<int> output(100);
  Persistent sum = comm.allreduce_init(input, output, std::plus{});
  Persistent barrier = comm.barrier_init();
  for (int round = 0; round < 50; ++round) {
    std::fill(input.begin(), input.end(), round + comm.rank());
    sum.start();
    sum.wait();
    barrier.start();
    barrier.wait();
    EXPECT_EQ(output.back(), comm.size() * round + comm.size() * (comm.size() - 1) / 2);
  }
}

TEST(Persistent, IsNotStartedTwice) {
  Communicator comm = world();
  if (comm.size() == 1) GTEST_SKIP() << "one rank is done at once";
  // By messages the others can't have got through: rank 0 has not looked since.
  Persistent barrier = comm.barrier_init({.algorithm = "dissemination"});
  barrier.start();
  if (comm.rank() == 0) {
    EXPECT_THROW(barrier.start(), Error);
  }
  barrier.wait();
}

void add(void* left, void* right, int* count, MPI_Datatype*) {
  for (int i = 0; i < 2 * *count; ++i) static_cast<int*>(right)[i] += static_cast<int*>(left)[i];
}

TEST(Handles, AreNotNeededOnceTheCollectiveHasStarted) {
  Communicator comm = world();
  for (int round = 0; round < 20; ++round) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op_create(add, 1, &op);
    MPI_Type_vector(2, 1, 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    std::vector<int> input(2000, comm.rank());
    std::vector<int> output(2000);
    std::vector<int> data(2000, comm.rank() == 0 ? 3 : 0);
    Pending sum = comm.iallreduce(input.data(), output.data(), 1000, type, op);
    Pending moved = comm.ibcast(data.data(), 1000, type, 0);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    EXPECT_EQ(op, MPI_OP_NULL);
    // What takes their place must not be mistaken for them.
    MPI_Op_create([](void*, void*, int*, MPI_Datatype*) { ADD_FAILURE() << "another operation was called"; }, 1, &op);
    MPI_Type_contiguous(3, MPI_DOUBLE, &type);
    sum.wait();
    moved.wait();
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    EXPECT_EQ(output, std::vector<int>(2000, comm.size() * (comm.size() - 1) / 2));
    EXPECT_EQ(data, std::vector<int>(2000, 3));
  }
}

// Of a type that only the user's function knows.
MPI_Datatype expected_type = MPI_DATATYPE_NULL;
void add_if_expected(void* left, void* right, int* count, MPI_Datatype* type) {
  EXPECT_EQ(*type, expected_type);
  add(left, right, count, type);
}

TEST(Handles, AreWhatTheUsersFunctionGets) {
  Communicator comm = world();
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add_if_expected, 1, &op);
  MPI_Type_contiguous(2, MPI_INT, &expected_type);
  MPI_Type_commit(&expected_type);
  std::vector<int> input(20, 1);
  std::vector<int> output(20);
  MPI_Datatype type = expected_type;
  comm.allreduce(input.data(), output.data(), 10, type, op);
  Pending pending = comm.iallreduce(input.data(), output.data(), 10, type, op);
  MPI_Type_free(&type);
  pending.wait();
  MPI_Op_free(&op);
  EXPECT_EQ(output.back(), comm.size());
}

#if MPI_VERSION >= 4
TEST(Handles, MayComeFromLargeCountCalls) {
  Communicator comm = world();
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous_c(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  std::vector<int> input(20, 1);
  std::vector<int> output(20);
  comm.iallreduce(input.data(), output.data(), 10, type, op).wait();
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  EXPECT_EQ(output.back(), comm.size());
}
#endif

TEST(Temporaries, CanNotBeLeftToAPendingCollective) {
  static_assert(BorrowedData<std::vector<int>&>);
  static_assert(BorrowedData<std::span<const int>>);
  static_assert(!BorrowedData<std::vector<int>>);
}

TEST(Failure, OfTheUsersFunctionIsPassedOn) {
  Communicator comm = world();
  if (comm.size() != 2 && comm.size() != 4) GTEST_SKIP() << "only with a power of two does every rank combine";
  std::vector<int> data(100, 1);
  std::vector<int> sum(100);
  const auto fail = [](int, int) -> int { throw std::domain_error("not today"); };
  EXPECT_THROW(comm.allreduce(data, sum, fail, {.algorithm = "recursive_doubling"}), std::domain_error);
  EXPECT_THROW(comm.barrier(), Error);
}

TEST(Failure, OfAFunctionThatCallsTheLibraryIsNamed) {
  Communicator comm = world();
  if (comm.size() != 2 && comm.size() != 4) GTEST_SKIP() << "only with a power of two does every rank combine";
  int one = 1;
  int sum = 0;
  const auto nested = [&comm](int a, int b) {
    comm.barrier();
    return a + b;
  };
  EXPECT_THROW(comm.allreduce(std::span(&one, 1), std::span(&sum, 1), nested), Error);
}

TEST(Failure, LeavesNothingBehind) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // for MPICH, see the header
  Communicator comm = world();
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(500, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  std::vector<int> data(1000);
  // The root sends twice as much as the others expect.
  if (comm.rank() == 0) {
    comm.bcast(data.data(), 1000, MPI_INT, 0, {.algorithm = "linear"});
  } else {
    EXPECT_THROW(comm.bcast(data.data(), 1, type, 0, {.algorithm = "linear"}), Error);
    EXPECT_THROW(comm.barrier(), Error);
  }
  MPI_Type_free(&type);
  world().barrier();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  EXPECT_EQ(engine::Process::get().requests().open(), 0U);
  EXPECT_EQ(engine::Process::get().arena().in_use(), 0);
}

TEST(Nothing, IsLeftWhenCollectivesAndCommunicatorsAreGone) {
  // More than either MPI has room for at one time; of one rank, where making one takes no time.
  for (int round = 0; round < 5000; ++round) world({}, MPI_COMM_SELF).barrier();
  for (int round = 0; round < 10; ++round) {
    Communicator comm = world();
    std::vector<int> data(1000, 1);
    std::vector<int> sum(1000);
    comm.allreduce(data, sum, std::plus{});
  }
  EXPECT_EQ(engine::Process::get().requests().open(), 0U);
  EXPECT_EQ(engine::Process::get().arena().in_use(), 0);
}

}  // namespace

}  // namespace quadrille::test
