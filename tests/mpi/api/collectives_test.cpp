// Every algorithm against the plain meaning of its collective, over real messages.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "api/world.hpp"

namespace quadrille::test {

namespace {

// Composition of x -> a x + b: associative, and its order matters.
struct Affine {
  std::uint32_t a;
  std::uint32_t b;

  friend bool operator==(const Affine&, const Affine&) = default;
};
Affine compose(const Affine& f, const Affine& g) {
  return {f.a * g.a, f.a * g.b + f.b};
}
Affine affine_of(int rank, std::int64_t i) {
  return {static_cast<std::uint32_t>(2 * rank + 3), static_cast<std::uint32_t>(7 * i + rank)};
}
void compose_all(void* left, void* right, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    auto& target = static_cast<Affine*>(right)[i];
    target = compose(static_cast<Affine*>(left)[i], target);
  }
}

std::vector<Affine> affines(int rank, std::int64_t count) {
  std::vector<Affine> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(affine_of(rank, i));
  return values;
}

std::vector<Affine> composed(int ranks, std::int64_t count) {
  std::vector<Affine> values = affines(0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    for (std::int64_t i = 0; i < count; ++i) {
      auto& value = values[static_cast<std::size_t>(i)];
      value = compose(value, affine_of(rank, i));
    }
  }
  return values;
}

std::vector<std::int64_t> counts_for(int ranks) {
  return {0, 1, ranks - 1, ranks, ranks + 1, 1000, 40000};
}

std::vector<std::string_view> algorithms_of(Collective collective) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : catalogue()) {
    // Data of these tests lies outside windows.
    const bool exposed = algorithm->restrictions.exposed;
    if (algorithm->collective == collective && !exposed) names.push_back(algorithm->name);
  }
  return names;
}

// Whole communicators, parts of them, and ranks in another order.
class Communicators : public testing::TestWithParam<std::string> {
 public:
  static Communicator make() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (GetParam() == "shuffled") return world({{"QUADRILLE_SHUFFLE", "7"}, {"QUADRILLE_SEGMENT", "1000"}});
    if (GetParam() == "checked") return world({{"QUADRILLE_CHECK", "1"}});
    if (GetParam() == "one_in_flight") return world({{"QUADRILLE_IN_FLIGHT", "1"}, {"QUADRILLE_SEGMENT", "1000"}});
    if (GetParam() == "in_parts") return world({{"QUADRILLE_PART", "1001"}});
    if (GetParam() == "without_shared_memory") return world({{"QUADRILLE_SHARED", "0"}, {"QUADRILLE_SEGMENT", "1000"}});
    if (GetParam() == "with_little_shared_memory") return world({{"QUADRILLE_SHARED", "1000"}});
    MPI_Comm comm = MPI_COMM_NULL;
    const bool halves = GetParam() == "halves";
    MPI_Comm_split(MPI_COMM_WORLD, halves ? rank % 2 : 0, halves ? rank : -rank, &comm);
    Communicator made = world({}, comm);
    MPI_Comm_free(&comm);
    return made;
  }
};

TEST_P(Communicators, BcastBringsTheRootsDataToEveryRank) {
  Communicator comm = make();
  for (std::string_view algorithm : algorithms_of(Collective::bcast)) {
    for (std::int64_t count : counts_for(comm.size())) {
      for (int root = 0; root < comm.size(); ++root) {
        std::vector<std::int32_t> data(static_cast<std::size_t>(count), -1);
        std::vector<std::int32_t> expected(static_cast<std::size_t>(count));
        std::iota(expected.begin(), expected.end(), root * 1000);
        if (comm.rank() == root) data = expected;
        comm.bcast(data, root, {.algorithm = algorithm});
        EXPECT_EQ(data, expected) << algorithm << ", " << count << " from " << root;
      }
    }
  }
}

TEST_P(Communicators, AllreduceSums) {
  Communicator comm = make();
  const int ranks = comm.size();
  for (std::string_view algorithm : algorithms_of(Collective::allreduce)) {
    for (std::int64_t count : counts_for(ranks)) {
      std::vector<std::int64_t> input(static_cast<std::size_t>(count));
      std::iota(input.begin(), input.end(), comm.rank());
      std::vector<std::int64_t> expected;
      for (std::int64_t i = 0; i < count; ++i) expected.push_back(ranks * i + ranks * (ranks - 1) / 2);
      std::vector<std::int64_t> output(static_cast<std::size_t>(count), -1);
      comm.allreduce(input, output, std::plus{}, {.algorithm = algorithm});
      EXPECT_EQ(output, expected) << algorithm << ", " << count;
      comm.allreduce(MPI_IN_PLACE, input.data(), count, MPI_INT64_T, MPI_SUM, {.algorithm = algorithm});
      EXPECT_EQ(input, expected) << algorithm << ", " << count << ", in place";
    }
  }
}

TEST_P(Communicators, AllreduceKeepsTheOrderOfRanks) {
  Communicator comm = make();
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op_create(compose_all, 0, &op);
  MPI_Type_contiguous(2, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  for (std::string_view algorithm : algorithms_of(Collective::allreduce)) {
    if (find_algorithm(Collective::allreduce, algorithm)->restrictions.commutative) continue;
    for (std::int64_t count : counts_for(comm.size())) {
      const std::vector<Affine> input = affines(comm.rank(), count);
      const std::vector<Affine> expected = composed(comm.size(), count);
      std::vector<Affine> output(static_cast<std::size_t>(count));
      comm.allreduce(input.data(), output.data(), count, type, op, {.algorithm = algorithm});
      EXPECT_EQ(output, expected) << algorithm << ", " << count;
      output = input;
      comm.allreduce(output, output, compose, {.algorithm = algorithm});
      EXPECT_EQ(output, expected) << algorithm << ", " << count << ", a function, in place";
    }
  }
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

TEST_P(Communicators, AllreduceIsTheSameToTheBitOnEveryRank) {
  Communicator comm = make();
  // Which of them MPI_MAX keeps depends on the order.
  const double mine = comm.rank() % 2 == 0 ? std::nan("") : comm.rank();
  const double zero = comm.rank() % 2 == 0 ? 0.0 : -0.0;
  for (std::string_view algorithm : algorithms_of(Collective::allreduce)) {
    for (double value : {mine, zero}) {
      double result = 0;
      comm.allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, {.algorithm = algorithm});
      double roots = result;
      comm.bcast(std::span(&roots, 1), 0);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(result), std::bit_cast<std::uint64_t>(roots)) << algorithm;
    }
  }
}

std::int64_t sent(int from, int to) {
  return (from * 7 + to * 3) % 5 == 0 ? 0 : (from * 13 + to * 5) % 300;
}

TEST_P(Communicators, AlltoallvBringsEachBlockToItsRank) {
  Communicator comm = make();
  const int ranks = comm.size();
  for (std::string_view algorithm : algorithms_of(Collective::alltoallv)) {
    if (find_algorithm(Collective::alltoallv, algorithm)->restrictions.in_place) continue;
    std::vector<std::int64_t> send;
    std::vector<std::int64_t> receive;
    std::vector<int> input;
    std::vector<int> expected;
    for (int peer = 0; peer < ranks; ++peer) {
      send.push_back(sent(comm.rank(), peer));
      receive.push_back(sent(peer, comm.rank()));
      input.insert(input.end(), static_cast<std::size_t>(send.back()), comm.rank() * 1000 + peer);
      expected.insert(expected.end(), static_cast<std::size_t>(receive.back()), peer * 1000 + comm.rank());
    }
    std::vector<int> output(expected.size(), -1);
    comm.alltoallv(input, send, output, receive, {.algorithm = algorithm});
    EXPECT_EQ(output, expected) << algorithm;
  }
}

TEST_P(Communicators, NobodyLeavesABarrierBeforeEverybodyHasCome) {
  Communicator comm = make();
  for (int round = 0; round < 5; ++round) {
    // One node, one clock.
    const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
    const std::int64_t before = now();
    comm.barrier();
    const std::int64_t after = now();
    std::int64_t latest = 0;
    comm.allreduce(std::span(&before, 1), std::span(&latest, 1), [](auto a, auto b) { return std::max(a, b); });
    EXPECT_LE(latest, after);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Communicators,
                         testing::Values("halves", "backwards", "shuffled", "checked", "one_in_flight", "in_parts",
                                         "without_shared_memory", "with_little_shared_memory"),
                         [](const auto& of) { return of.param; });

TEST(Call, IsRefusedWithAReason) {
  Communicator comm = world();
  int value = 0;
  const auto reason = [&](auto&& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(reason([&] { comm.bcast(&value, 1, MPI_INT, comm.size()); }).find("it must be a rank"), std::string::npos);
  EXPECT_NE(reason([&] { comm.bcast(&value, -1, MPI_INT, 0); }).find("negative"), std::string::npos);
  EXPECT_NE(reason([&] { comm.bcast(&value, 1, MPI_INT, 0, {.algorithm = "nonsense"}); }).find("binomial"),
            std::string::npos);
  EXPECT_NE(reason([&] {
              comm.allreduce(std::span(&value, 1), std::span(&value, 1), [](int a, int) { return a; },
                             {.algorithm = "ring"});
            }).find("commutative"),
            std::string::npos);
  comm.bcast(&value, 1, MPI_INT, 0);  // and the communicator goes on
}

}  // namespace

}  // namespace quadrille::test
