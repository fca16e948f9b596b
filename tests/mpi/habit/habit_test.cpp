// The C++ interface as one would guess it: single values, one range in place, operations by name.

#include <gtest/gtest.h>

#include <quadrille/quadrille.hpp>
#include <string>
#include <vector>

namespace quadrille::test {

namespace {

const auto add = [](int left, int right) { return left + right; };

// What must not compile.
template <class Value>
concept CanBeReduced = requires(Communicator& comm, Value value) {
  comm.allreduce(value, std::plus{});
};
template <class Value>
concept CanBeBroadcast = requires(Communicator& comm, Value& value) {
  comm.bcast(value, 0);
};
static_assert(CanBeReduced<double> && CanBeReduced<std::vector<double>>);
static_assert(!CanBeReduced<std::string*>, "a pointer's value means nothing elsewhere");
static_assert(!CanBeReduced<std::vector<std::string>>, "strings are not trivially copyable");
static_assert(!CanBeReduced<Communicator>);
static_assert(CanBeBroadcast<int> && !CanBeBroadcast<int*> && !CanBeBroadcast<std::vector<std::string>>);
template <class Data>
concept CanBePending = requires(Communicator& comm, Data data) {
  comm.ibcast(std::move(data), 0);
};
static_assert(!CanBePending<std::vector<int>>, "a temporary would be gone before it arrives");
static_assert(commutative<Max, double> && commutative<Min, int> && commutative<std::plus<>, float>);
static_assert(!commutative<decltype(add), int>, "what a lambda does is not known");

TEST(Habit, OneValueIsReduced) {
  Communicator comm(MPI_COMM_WORLD);
  const int ranks = comm.size();
  EXPECT_EQ(comm.allreduce(comm.rank() + 1, std::plus{}), ranks * (ranks + 1) / 2);
  EXPECT_EQ(comm.allreduce(1.0 * comm.rank(), quadrille::max), ranks - 1);
  EXPECT_EQ(comm.allreduce(comm.rank(), quadrille::min), 0);
  EXPECT_EQ(comm.allreduce(2L, quadrille::product), 1L << ranks);
  const int at_root = comm.reduce(1, quadrille::sum, ranks - 1);
  EXPECT_EQ(at_root, comm.rank() == ranks - 1 ? ranks : 1);
}

TEST(Habit, OneRangeIsReducedInPlace) {
  Communicator comm(MPI_COMM_WORLD);
  std::vector<int> data(1000, comm.rank());
  comm.allreduce(data, quadrille::max);
  EXPECT_EQ(data, std::vector<int>(1000, comm.size() - 1));
  std::vector<int> ones(10, 1);
  comm.reduce(ones, add, 0);
  EXPECT_EQ(ones, std::vector<int>(10, comm.rank() == 0 ? comm.size() : 1));
}

TEST(Habit, OneValueIsBroadcast) {
  Communicator comm(MPI_COMM_WORLD);
  struct Settings {
    int steps = 0;
    double width = 0;
  } settings;
  if (comm.rank() == 0) settings = {100, 0.5};
  comm.bcast(settings, 0);
  EXPECT_EQ(settings.steps, 100);
  EXPECT_EQ(settings.width, 0.5);
}

TEST(Habit, APendingCollectiveMayBeDeclaredBeforeItStarts) {
  Communicator comm(MPI_COMM_WORLD);
  Pending pending;
  EXPECT_TRUE(pending.test());
  pending.wait();
  std::vector<int> mine(3, 1), all(3);
  pending = comm.iallreduce(mine, all, quadrille::sum);
  pending.wait();
  EXPECT_EQ(all, std::vector<int>(3, comm.size()));
}

TEST(Habit, ANullCommunicatorIsAnError) {
  try {
    Communicator comm(MPI_COMM_NULL);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), MPI_ERR_COMM);
    EXPECT_NE(std::string(error.what()).find("MPI_COMM_NULL"), std::string::npos);
  }
}

}  // namespace

}  // namespace quadrille::test
