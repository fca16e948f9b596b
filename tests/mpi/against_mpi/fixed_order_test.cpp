// Reductions in a fixed order give the bits of the fold from left to right.

#include <gtest/gtest.h>

#include <random>

#include "against_mpi/choices.hpp"

namespace quadrille::test {

namespace {

std::vector<double> numbers_of(int rank, std::size_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  std::uniform_real_distribution<double> digits(-1, 1);
  std::vector<double> numbers(count);
  for (double& one : numbers) one = digits(random) * std::pow(10.0, static_cast<int>(random() % 16));
  return numbers;
}

// The sum of ranks 0 to last, plainly.
std::vector<double> fold(int last, std::size_t count) {
  std::vector<double> sum = numbers_of(0, count);
  for (int rank = 1; rank <= last; ++rank) {
    const std::vector<double> next = numbers_of(rank, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] = sum[i] + next[i];
  }
  return sum;
}

std::vector<std::string> eligible(Collective collective) {
  std::vector<std::string> names = {""};
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == collective && algorithm->fixed_order) names.emplace_back(algorithm->name);
  }
  return names;
}

class FixedOrder : public testing::TestWithParam<const char*> {};

TEST_P(FixedOrder, GivesTheBitsOfTheFold) {
  const Place place(GetParam());
  Communicator& comm = *place.ours;
  for (std::size_t count : {std::size_t{1}, std::size_t{17}, std::size_t{3000}, std::size_t{20000}}) {
    const std::vector<double> mine = numbers_of(place.rank, count);
    const std::vector<double> all = fold(place.ranks - 1, count);
    const std::vector<double> below = fold(place.rank, count);
    for (const std::string& algorithm : eligible(Collective::allreduce)) {
      std::vector<double> result(count);
      comm.allreduce(mine, result, std::plus{}, {.algorithm = algorithm, .fixed_order = true});
      EXPECT_EQ(result, all) << "allreduce " << algorithm << ", " << count;
      result = mine;
      comm.allreduce(MPI_IN_PLACE, result.data(), static_cast<std::int64_t>(count), MPI_DOUBLE, MPI_SUM,
                     {.algorithm = algorithm, .fixed_order = true});
      EXPECT_EQ(result, all) << "allreduce in place " << algorithm << ", " << count;
    }
    for (const std::string& algorithm : eligible(Collective::reduce)) {
      for (int root : place.roots(true)) {
        std::vector<double> result(count);
        comm.reduce(mine.data(), result.data(), static_cast<std::int64_t>(count), MPI_DOUBLE, MPI_SUM, root,
                    {.algorithm = algorithm, .fixed_order = true});
        if (place.rank == root) {
          EXPECT_EQ(result, all) << "reduce " << algorithm << ", " << count << " to " << root;
        }
      }
    }
    for (const std::string& algorithm : eligible(Collective::scan)) {
      std::vector<double> result(count);
      comm.scan(mine, result, std::plus{}, {.algorithm = algorithm, .fixed_order = true});
      EXPECT_EQ(result, below) << "scan " << algorithm << ", " << count;
    }
  }
}

TEST_P(FixedOrder, GivesTheBitsOfTheFoldInShares) {
  const Place place(GetParam());
  const auto ranks = static_cast<std::size_t>(place.ranks);
  const std::size_t share = 1000;
  const std::vector<double> mine = numbers_of(place.rank, ranks * share);
  const std::vector<double> all = fold(place.ranks - 1, ranks * share);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(share) * place.rank;
  const std::vector<double> expected(begin, begin + share);
  for (const std::string& algorithm : eligible(Collective::reduce_scatter_block)) {
    std::vector<double> result(share);
    place.ours->reduce_scatter_block(mine, result, std::plus{}, {.algorithm = algorithm, .fixed_order = true});
    EXPECT_EQ(result, expected) << algorithm;
  }
}

TEST_P(FixedOrder, RefusesWhatCannotKeepIt) {
  const Place place(GetParam());
  double value = 1;
  EXPECT_THROW(place.ours->allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM,
                                     {.algorithm = "recursive_doubling", .fixed_order = true}),
               Error);
}

INSTANTIATE_TEST_SUITE_P(On, FixedOrder, testing::Values("all", "halves", "backwards"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace

}  // namespace quadrille::test
