// Collectives that follow one another, functions that are called when they end, and bounds on what they take.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "api/world.hpp"
#include "engine/process.hpp"

namespace quadrille::test {

namespace {

TEST(Then, CallsAFunctionOnceTheCollectiveIsDone) {
  Communicator comm = world();
  int value = comm.rank() == 0 ? 42 : -1;
  int seen = 0;
  int calls = 0;
  Pending pending = comm.ibcast(std::span(&value, 1), 0);
  pending.then([&] {
    seen = value;
    ++calls;
  });
  pending.wait();
  EXPECT_EQ(seen, 42);
  EXPECT_EQ(calls, 1);
  pending.wait();
  EXPECT_EQ(calls, 1);
}

TEST(Then, CallsAFunctionOfOneThatIsDoneAlready) {
  Communicator comm = world();
  Pending pending = comm.ibarrier();
  pending.wait();
  int calls = 0;
  pending.then([&] { ++calls; });
  comm.barrier();
  EXPECT_EQ(calls, 1);
}

TEST(Then, FunctionsDoNotRunInsideOneAnother) {
  Communicator comm = world();
  Communicator other = world();
  int depth = 0;
  int deepest = 0;
  int calls = 0;
  const auto function = [&] {
    deepest = std::max(deepest, ++depth);
    other.barrier();  // advances everything, also what would call the next function
    --depth;
    ++calls;
  };
  Pending one = comm.ibarrier();
  Pending two = comm.ibarrier();
  one.then(function);
  two.then(function);
  one.wait();
  two.wait();
  while (calls < 2) comm.barrier();
  EXPECT_EQ(deepest, 1);
}

TEST(Then, AFunctionsErrorReachesWhoeverWaits) {
  Communicator comm = world();
  Pending pending = comm.ibarrier();
  pending.then([] { throw std::runtime_error("from a callback"); });
  EXPECT_THROW(pending.wait(), std::runtime_error);
  comm.barrier();
}

TEST(Then, AFunctionThatThrowsHarmsNoOtherCollective) {
  Communicator comm = world();
  Communicator other = world();
  Pending pending = comm.ibarrier();
  pending.then([] { throw std::runtime_error("from a callback"); });
  engine::Process& process = engine::Process::get();
  while (process.requests().open() > 0 || !process.watch().empty()) process.look();
  { const Pending dropped = other.ibarrier(); }
  EXPECT_THROW(other.barrier(), std::runtime_error);
  other.barrier();
  comm.barrier();
  pending.wait();
}

TEST(Then, TestingOneCallsTheFunctionsOfAll) {
  Communicator comm = world();
  Communicator other = world();
  bool called = false;
  Pending first = comm.ibarrier();
  first.then([&called] { called = true; });
  // Rank 0 joins the second only when the function has been called: until then it can't end.
  if (comm.rank() == 0) {
    Persistent second = other.barrier_init();
    while (!called) first.test();
    second.start();
    second.wait();
  } else {
    Pending second = other.ibarrier();
    while (!called) second.test();
    second.wait();
  }
  EXPECT_TRUE(called);
}

TEST(Then, TestingOneThatHasEndedAdvancesTheOthers) {
  Communicator comm = world();
  Communicator other = world();
  Pending ended = comm.ibarrier();
  ended.wait();
  bool called = false;
  Pending open = other.ibarrier();
  open.then([&called] { called = true; });
  while (!called) EXPECT_TRUE(ended.test());
  open.wait();
}

TEST(Then, OfAPersistentOneIsForRunsToCome) {
  Communicator comm = world();
  Persistent barrier = comm.barrier_init();
  barrier.start();
  barrier.wait();
  int calls = 0;
  barrier.then([&calls] { ++calls; });
  comm.barrier();
  EXPECT_EQ(calls, 0);
  barrier.start();
  barrier.wait();
  EXPECT_EQ(calls, 1);
}

// Ranks end the collectives in different orders, and yet each follower meets its own kind.
TEST(Chain, FollowsOnEveryRankAsSoonAsTheFirstHasEnded) {
  Communicator comm = world();
  std::vector<int> data(5000, comm.rank() == 0 ? 7 : 0);
  std::vector<int> sum(data.size());
  std::vector<int> other(100, comm.rank());
  std::vector<int> other_sum(other.size());
  Persistent follower = comm.allreduce_init(data, sum, std::plus{});
  for (int round = 0; round < 10; ++round) {
    std::fill(data.begin(), data.end(), comm.rank() == 0 ? 7 + round : 0);
    Pending first = comm.ibcast(data, 0);
    first.then(follower);
    // Started later, it may well end earlier.
    Pending later = comm.iallreduce(other, other_sum, std::plus{});
    later.wait();
    follower.wait();
    EXPECT_EQ(sum.back(), (7 + round) * comm.size());
    EXPECT_EQ(other_sum.back(), comm.size() * (comm.size() - 1) / 2);
    first.wait();
  }
}

TEST(Chain, OfPersistentOnesIsStartedByItsFirst) {
  Communicator comm = world();
  std::vector<int> value(64);
  std::vector<int> sum(64);
  Persistent first = comm.bcast_init(value, 0);
  Persistent second = comm.allreduce_init(value, sum, std::plus{});
  Persistent third = comm.bcast_init(sum, comm.size() - 1);
  first.then(second);
  second.then(third);
  int calls = 0;
  third.then([&calls] { ++calls; });
  for (int round = 1; round <= 20; ++round) {
    if (comm.rank() == 0) std::fill(value.begin(), value.end(), round);
    first.start();
    third.wait();
    EXPECT_EQ(sum.back(), round * comm.size());
    EXPECT_EQ(calls, round);
    first.wait();
    second.wait();
  }
}

TEST(Chain, IsRefusedWhereItMakesNoSense) {
  Communicator comm = world();
  Communicator other = world();
  Persistent a = comm.barrier_init();
  Persistent b = comm.barrier_init();
  Persistent c = comm.barrier_init();
  Persistent elsewhere = other.barrier_init();
  EXPECT_THROW(a.then(elsewhere), Error);
  a.then(b);
  EXPECT_THROW(a.then(c), Error);
  EXPECT_THROW(c.then(b), Error);
  EXPECT_THROW(b.then(a), Error);
  a.start();
  a.wait();
  b.wait();
}

TEST(Chain, IsRefusedAlikeWhetherOrNotTheFirstHasEnded) {
  Communicator comm = world();
  Persistent one = comm.barrier_init();
  Persistent two = comm.barrier_init();
  Pending first = comm.ibarrier();
  first.then(one);
  if (comm.rank() % 2 == 0) first.wait();
  EXPECT_THROW(first.then(two), Error);
  one.wait();
}

// Checked mode refuses the first on every rank, and then what follows it fails everywhere, too.
TEST(Chain, FailsWithItsFirst) {
  Communicator comm = world({{"QUADRILLE_CHECK", "1"}});
  if (comm.size() == 1) return;
  int value = 0;
  Persistent next = comm.barrier_init();
  Pending wrong = comm.ibcast(std::span(&value, 1), comm.rank() == 0 ? 0 : 1);
  if (comm.rank() == 0) {
    EXPECT_THROW(wrong.wait(), Error);
  }
  wrong.then(next);
  EXPECT_THROW(next.wait(), Error);
  comm.barrier();
}

TEST(Chain, GoesOnWithoutAFollowerThatIsGone) {
  Communicator comm = world();
  Persistent first = comm.barrier_init();
  {
    Persistent follower = comm.barrier_init();
    first.then(follower);
    first.start();
    first.wait();
  }
  first.start();
  first.wait();
}

// Under a bound on memory what follows holds its share from its start on, so that nobody can take it away.
TEST(Chain, WorksUnderABoundOnMemory) {
  Communicator comm = world({{"QUADRILLE_MEMORY", "100k"}});
  std::vector<int> data(4000, 1);
  std::vector<int> sum(data.size());
  std::vector<int> again(data.size());
  Persistent follower = comm.allreduce_init(data, again, std::plus{});
  for (int round = 0; round < 5; ++round) {
    Pending first = comm.iallreduce(data, sum, std::plus{});
    first.then(follower);
    Pending third = comm.iallreduce(data, sum, std::plus{});
    if (comm.rank() % 2 == 0) {
      third.wait();
      follower.wait();
    } else {
      follower.wait();
      third.wait();
    }
    EXPECT_EQ(again.back(), comm.size());
  }
}

TEST(Bound, OfACallIsKept) {
  Communicator comm = world();
  const auto n = static_cast<std::size_t>(comm.size()) * 20000;
  std::vector<int> data(n, comm.rank());
  std::vector<int> output(n);
  constexpr std::int64_t bound = 64 << 10;
  engine::Process::get().arena().forget_peak();
  comm.alltoall(data, output, {.memory = bound});
  comm.alltoall(data, data, {.memory = bound});
  EXPECT_EQ(data, output);
  EXPECT_LE(Communicator::peak_bytes(), bound);
  comm.allgather(std::span(output).first(20000), data, {.memory = bound});
  EXPECT_LE(Communicator::peak_bytes(), bound);
}

TEST(Bound, ThatCanNotBeKeptIsRefusedOnEveryRank) {
  Communicator comm = world();
  if (comm.size() == 1) return;
  std::vector<double> data(100000, 1);
  std::vector<double> sum(data.size());
  EXPECT_THROW(comm.allreduce(data, sum, std::plus{}, {.algorithm = "recursive_doubling", .memory = 1000}), Error);
  comm.allreduce(data, sum, std::plus{}, {.algorithm = "recursive_doubling"});
  EXPECT_EQ(sum.back(), comm.size());
}

TEST(Bound, PicksWhatFits) {
  Communicator comm = world();
  std::vector<double> data(100000, 1);
  std::vector<double> sum(data.size());
  engine::Process::get().arena().forget_peak();
  comm.allreduce(data, sum, std::plus{}, {.memory = 400000});
  EXPECT_LE(Communicator::peak_bytes(), 400000);
  EXPECT_EQ(sum.back(), comm.size());
}

}  // namespace

}  // namespace quadrille::test
