// Data that does not lie one after another.

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "api/world.hpp"
#include "engine/process.hpp"

namespace quadrille::test {

namespace {

class Type {
 public:
  template <class Make>
  explicit Type(Make&& make) {
    make(&type_);
    MPI_Type_commit(&type_);
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  ~Type() { MPI_Type_free(&type_); }
  operator MPI_Datatype() const { return type_; }  // NOLINT: it is one

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// Each with and without a bound on memory, and cut into parts that fall anywhere.
class Types : public testing::TestWithParam<int> {
 public:
  static Communicator make() {
    if (GetParam() == 1) return world({{"QUADRILLE_MEMORY", "16K"}});
    if (GetParam() == 2) return world({{"QUADRILLE_PART", "37"}, {"QUADRILLE_SEGMENT", "500"}});
    return world();
  }
};

// Every second of 2,000 integers.
TEST_P(Types, MayDifferBetweenTheRanksOfABcast) {
  Communicator comm = make();
  const Type strided([](MPI_Datatype* type) { MPI_Type_vector(1000, 1, 2, MPI_INT, type); });
  for (int root = 0; root < comm.size(); ++root) {
    for (int derived = 0; derived < comm.size(); ++derived) {
      std::vector<int> expected(1000);
      std::iota(expected.begin(), expected.end(), root);
      if (comm.rank() == derived) {
        std::vector<int> data(2000, -1);
        for (std::size_t i = 0; i < 1000 && comm.rank() == root; ++i) data[2 * i] = expected[i];
        comm.bcast(data.data(), 1, strided, root);
        for (std::size_t i = 0; i < 1000; ++i) {
          ASSERT_EQ(data[2 * i], expected[i]);
          ASSERT_EQ(data[2 * i + 1], -1) << "a gap was written";
        }
      } else {
        std::vector<int> data(1000, -1);
        if (comm.rank() == root) data = expected;
        comm.bcast(data.data(), 1000, MPI_INT, root);
        EXPECT_EQ(data, expected);
      }
    }
  }
}

TEST_P(Types, OneSubarrayMayBeTheWholeMessage) {
  Communicator comm = make();
  constexpr int n = 60;
  const std::array<int, 2> sizes = {n, n};
  const std::array<int, 2> part = {n / 2, n / 3};
  const std::array<int, 2> start = {5, 7};
  const Type subarray([&](MPI_Datatype* type) {
    MPI_Type_create_subarray(2, sizes.data(), part.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE, type);
  });
  std::vector<double> data(n * n, comm.rank() == 0 ? 3.5 : -1.0);
  comm.bcast(data.data(), 1, subarray, 0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const bool inside = i >= 5 && i < 5 + n / 2 && j >= 7 && j < 7 + n / 3;
      const double expected = inside || comm.rank() == 0 ? 3.5 : -1.0;
      ASSERT_EQ(data[static_cast<std::size_t>(i * n + j)], expected) << i << ", " << j;
    }
  }
}

TEST_P(Types, MayHaveGapsInAReduction) {
  Communicator comm = make();
  // A pair of double and int has four bytes of padding, and MPI knows how to reduce it.
  struct Pair {
    double value;
    int rank;
  };
  for (int count : {1, 10, 300}) {
    std::vector<Pair> input;
    for (int i = 0; i < count; ++i)
      input.push_back({static_cast<double>((comm.rank() + i) % comm.size()), comm.rank()});
    std::vector<Pair> output(static_cast<std::size_t>(count));
    comm.allreduce(input.data(), output.data(), count, MPI_DOUBLE_INT, MPI_MAXLOC);
    for (int i = 0; i < count; ++i) {
      const Pair& pair = output[static_cast<std::size_t>(i)];
      EXPECT_EQ(pair.value, comm.size() - 1);
      EXPECT_EQ((pair.rank + i) % comm.size(), comm.size() - 1);
    }
  }
}

TEST_P(Types, MayDifferBetweenTheEndsOfAnAlltoallv) {
  Communicator comm = make();
  const int ranks = comm.size();
  // Sent as columns, received one after another, backwards in memory.
  const Type column([&](MPI_Datatype* type) {
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    MPI_Type_vector(50, 1, ranks, MPI_INT, &whole);
    MPI_Type_create_resized(whole, 0, sizeof(int), type);
    MPI_Type_free(&whole);
  });
  std::vector<int> input(static_cast<std::size_t>(50 * ranks));
  for (int row = 0; row < 50; ++row) {
    for (int peer = 0; peer < ranks; ++peer) {
      input[static_cast<std::size_t>(row * ranks + peer)] = comm.rank() * 10000 + peer * 100 + row;
    }
  }
  std::vector<int> output(input.size(), -1);
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(ranks), 1);
  const std::vector<std::int64_t> fifties(static_cast<std::size_t>(ranks), 50);
  std::vector<std::int64_t> columns;
  std::vector<std::int64_t> backwards;
  for (int peer = 0; peer < ranks; ++peer) {
    columns.push_back(peer);
    backwards.push_back(50 * (ranks - 1 - peer));
  }
  comm.alltoallv(input.data(), {ones.data(), columns.data(), column}, output.data(),
                 {fifties.data(), backwards.data(), MPI_INT});
  for (int peer = 0; peer < ranks; ++peer) {
    for (int row = 0; row < 50; ++row) {
      EXPECT_EQ(output[static_cast<std::size_t>(50 * (ranks - 1 - peer) + row)],
                peer * 10000 + comm.rank() * 100 + row);
    }
  }
}

TEST_P(Types, MayHoldAddresses) {
  Communicator comm = make();
  std::array<int, 3> here = {comm.rank(), comm.rank(), comm.rank()};
  std::array<double, 2> there = {comm.rank() + 0.5, comm.rank() + 0.5};
  const Type absolute([&](MPI_Datatype* type) {
    const std::array<int, 2> lengths = {3, 2};
    std::array<MPI_Aint, 2> addresses{};
    MPI_Get_address(here.data(), addresses.data());
    MPI_Get_address(there.data(), &addresses[1]);
    const std::array<MPI_Datatype, 2> types = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths.data(), addresses.data(), types.data(), type);
  });
  const int root = comm.size() - 1;
  comm.bcast(MPI_BOTTOM, 1, absolute, root);
  EXPECT_EQ(here, (std::array<int, 3>{root, root, root}));
  EXPECT_EQ(there, (std::array<double, 2>{root + 0.5, root + 0.5}));
}

INSTANTIATE_TEST_SUITE_P(With, Types, testing::Range(0, 3));

TEST(Memory, StaysWithinItsBound) {
  constexpr std::int64_t bound = 64 << 10;
  Communicator comm = world({{"QUADRILLE_MEMORY", std::to_string(bound)}});
  const Type strided([](MPI_Datatype* type) { MPI_Type_vector(1 << 17, 1, 2, MPI_DOUBLE, type); });
  std::vector<double> data(1 << 18, comm.rank() == 0 ? 1 : 0);
  engine::Process::get().arena().forget_peak();
  // By messages, which are packed.
  const Options options{.algorithm = "binomial"};
  comm.bcast(data.data(), 1, strided, 0, options);
  EXPECT_EQ(data[data.size() - 2], 1);
  EXPECT_LE(Communicator::peak_bytes(), bound);
  EXPECT_EQ(Communicator::peak_bytes() > 0, comm.size() > 1);

  // Several at once share it.
  std::vector<std::vector<double>> more(10, data);
  std::vector<Pending> pending;
  for (auto& one : more) pending.push_back(comm.ibcast(one.data(), 1, strided, 0, options));
  for (Pending& one : pending) one.wait();
  EXPECT_LE(Communicator::peak_bytes(), bound);
}

TEST(Memory, TooSmallABoundIsRefusedOnEveryRank) {
  Communicator comm = world({{"QUADRILLE_MEMORY", "64k"}});
  engine::Process::get().arena().forget_peak();
  if (comm.size() == 1) GTEST_SKIP() << "one rank needs no scratch";
  std::vector<double> data(6000, 1);
  std::vector<double> sum(6000);
  try {
    comm.allreduce(data, sum, std::plus{}, {.algorithm = "rabenseifner"});
    FAIL() << "was not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("QUADRILLE_MEMORY"), std::string::npos) << error.what();
  }
  // By itself the library takes one that fits: in a ring of three or more, less arrives at a time. And the communicator
  // goes on.
  if (comm.size() == 2) GTEST_SKIP() << "two ranks exchange half of the data at a time";
  comm.allreduce(data, sum, std::plus{});
  EXPECT_EQ(sum.back(), comm.size());
  EXPECT_LE(Communicator::peak_bytes(), 64 << 10);
}

}  // namespace

}  // namespace quadrille::test
