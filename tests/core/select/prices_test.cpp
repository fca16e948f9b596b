#include "select/prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "cost/built_in.hpp"
#include "topology/topology.hpp"

namespace quadrille {
namespace {

Case allreduce(Rank ranks, std::int64_t count) {
  return {.collective = Collective::allreduce,
          .ranks = ranks,
          .count = count,
          .largest = count,
          .unit_bytes = 8,
          .unit_extent = 8};
}

Prices prices(const Topology& topology) {
  const Requirements requirements({.topology = &topology, .slot_bytes = 1 << 18}, 1 << 30, 1 << 15);
  return {cost::built_in(), requirements, 1 << 15};
}

// What MPI libraries do is in the catalogue, too.
TEST(Prices, LeaveOutWhatIsNotOffered) {
  const Topology topology = Topology::nodes(8, 4);
  Prices all = prices(topology);
  std::int64_t left_out = 0;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->offered || !sizes_are_known(algorithm->collective)) continue;
    ++left_out;
    const Placement placement{.ranks = 8, .nodes = 2, .ranks_per_node = 4};
    for (const Priced& one : all.ranking(case_of_bytes(algorithm->collective, 1 << 16, placement)).variants) {
      EXPECT_NE(&one.variant.algorithm(), algorithm) << algorithm->name;
    }
  }
  EXPECT_GT(left_out, 10);
}

TEST(Prices, RankAllThatCanRunACase) {
  const Topology topology = Topology::nodes(8, 4);
  Prices all = prices(topology);
  const std::vector<Priced> ranked = all.ranking(allreduce(8, 1 << 16)).variants;
  EXPECT_TRUE(std::is_sorted(ranked.begin(), ranked.end(),
                             [](const Priced& a, const Priced& b) { return a.seconds < b.seconds; }));
  const auto has = [&](const char* name, std::int64_t segment) {
    return std::any_of(ranked.begin(), ranked.end(), [&](const Priced& one) {
      return one.variant.algorithm().name == name && one.variant.segment == segment;
    });
  };
  EXPECT_TRUE(has("ring", 0));
  EXPECT_TRUE(has("hierarchical", 0));
  EXPECT_TRUE(has("hierarchical", 1 << 13));
  // Of an operation that does not commute only some.
  Case ordered = allreduce(8, 1 << 16);
  ordered.commutative = false;
  EXPECT_LT(all.ranking(ordered).variants.size(), ranked.size());
}

TEST(Prices, OfOneRankingAreCloseToEachCase) {
  const Topology topology = Topology::nodes(24, 4);
  Prices all = prices(topology);
  for (const std::int64_t count : {1, 3, 7, 9, 1000, 1023, 1025, 12345, 65535}) {
    const std::vector<Priced> ranked = all.ranking(allreduce(24, count)).variants;
    for (const Priced& one : ranked) {
      const double exact = all.price(one.variant, allreduce(24, count));
      EXPECT_GE(exact, one.seconds * 0.8) << name_of(one.variant) << ' ' << count;
      EXPECT_LE(exact, one.seconds * 1.5) << name_of(one.variant) << ' ' << count;
    }
  }
}

// Ten times what it should take.
TEST(Prices, AreFoundQuicklyAlsoForAMillionRanks) {
  for (const Rank ranks : {64, 1 << 20}) {
    const Topology topology = Topology::nodes(ranks, 32);
    Prices all = prices(topology);
    const std::clock_t begin = std::clock();  // of this process: other work on the machine counts for nothing
    int cases = 0;
    for (std::int64_t count = 1; count <= 1 << 20; count *= 2, ++cases) all.ranking(allreduce(ranks, count));
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    RecordProperty("microseconds", static_cast<int>(took / cases * 1e6));
    EXPECT_LT(took / cases, ranks > 64 ? 10e-3 : 1e-3) << ranks;
  }
}

}  // namespace
}  // namespace quadrille
