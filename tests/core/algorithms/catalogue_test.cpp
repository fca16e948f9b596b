#include "algorithms/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "topology/topology.hpp"

namespace quadrille {
namespace {

#if defined(__has_feature)
#define QUADRILLE_HAS_FEATURE(name) __has_feature(name)
#else
#define QUADRILLE_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || QUADRILLE_HAS_FEATURE(address_sanitizer) || \
    QUADRILLE_HAS_FEATURE(thread_sanitizer)
constexpr bool timing_counts = false;
#else
constexpr bool timing_counts = true;
#endif

TEST(Catalogue, NamesAreUniqueAndFoundAgain) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const Algorithm* one : catalogue()) {
    EXPECT_TRUE(names.emplace(name(one->collective), one->name).second);
    EXPECT_EQ(find_algorithm(one->collective, one->name), one);
    EXPECT_EQ(collective_named(name(one->collective)), one->collective);
    EXPECT_FALSE(one->steps.empty() || one->cost.empty() || one->summary.empty());
  }
  EXPECT_EQ(find_algorithm(Collective::bcast, "no such"), nullptr);
  EXPECT_FALSE(collective_named("no such").has_value());
}

TEST(Catalogue, RefusalsNameTheReason) {
  Problem problem;
  problem.ranks = 4;
  problem.commutative = false;
  const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  EXPECT_NE(refusal(ring, problem).find("commutative"), std::string::npos);
  EXPECT_THROW(build(ring, problem), std::invalid_argument);
  problem.in_place = true;
  EXPECT_NE(refusal(*find_algorithm(Collective::alltoallv, "linear"), problem), "");
  EXPECT_NE(refusal(*find_algorithm(Collective::bcast, "linear"), problem), "");
  EXPECT_EQ(refusal(*find_algorithm(Collective::allreduce, "recursive_doubling"), problem), "");
  EXPECT_EQ(descriptions(ring.restrictions), std::vector<std::string_view>{"commutative operation"});
}

// Only the root knows whether it is in place, but all ranks must make the same choice.
TEST(Catalogue, NoAlgorithmOfARootedCollectiveDependsOnBeingInPlace) {
  for (const Algorithm* one : catalogue()) {
    if (traits(one->collective).rooted || traits(one->collective).counts_differ) {
      EXPECT_FALSE(one->restrictions.not_in_place) << one->name;
    }
  }
}

TEST(Catalogue, EveryReductionHasAnAlgorithmInRankOrder) {
  for (int i = 0; i < collectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    if (!traits(collective).reduces) continue;
    const auto all = catalogue();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Algorithm* one) {
      return one->collective == collective && one->fixed_order;
    })) << name(collective);
  }
}

// A schedule with all offsets and lengths n times as long.
Schedule scaled(Schedule schedule, std::int64_t n) {
  for (std::int64_t& units : schedule.scratch) units *= n;
  for (std::int64_t& units : schedule.slots) units *= n;
  for (Region& region : schedule.regions) {
    region.offset *= n;
    region.stride *= n;
    region.length *= n;  // never `whole`: that would not be n times as long
  }
  return schedule;
}

bool scales_at_any_size(const Algorithm& algorithm) {
  for (const Rank ranks : {1, 2, 3, 4, 5, 7, 8, 16, 17}) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      for (const int way : {0, 1, 2, 3, 4, 5}) {
        const bool commutative = way / 2 == 0;
        const bool fixed_order = way / 2 == 2;
        Problem problem{.rank = rank,
                        .ranks = ranks,
                        .root = ranks / 2,
                        .count = 1,
                        .in_place = way % 2 == 1,
                        .commutative = commutative,
                        .fixed_order = fixed_order};
        if (!refusal(algorithm, problem).empty()) continue;
        const Schedule one = build(algorithm, problem);
        if (!one.loops.empty() || !one.slots.empty()) return false;
        for (const std::int64_t n : {2, 3, 8, 1000, 100000}) {
          problem.count = n;
          if (build(algorithm, problem) != scaled(one, n)) return false;
        }
      }
    }
  }
  return true;
}

// The engine builds such a schedule once for all sizes.
TEST(Catalogue, WhatScalesIsTheSameForEverySize) {
  for (const Algorithm* algorithm : catalogue()) {
    // Elsewhere there is no one count, and what cuts its data depends on more than that.
    const Traits of = traits(algorithm->collective);
    if (!of.moves_data() || of.separate_blocks || of.counts_differ) continue;
    // Short data goes through windows in another way than long data.
    const bool cuts =
        algorithm->segmented || algorithm->hierarchical || algorithm->swaps || algorithm->restrictions.exposed;
    EXPECT_EQ(algorithm->scales == at_any_size, !cuts && scales_at_any_size(*algorithm))
        << name(algorithm->collective) << " " << algorithm->name;
  }
}

// Those that use shared memory, as long as their data is short.
TEST(Catalogue, WhatScalesWhileItIsShortIsTheSameUntilThen) {
  const std::vector<Topology> machines = {Topology::nodes(8, 8), Topology::nodes(12, 4), Topology::nodes(7, 3),
                                          Topology(8, {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}}),
                                          Topology(6, {{0, 1, 2, 0, 1, 2}})};
  std::map<const Algorithm*, std::int64_t> longest;
  for (const Algorithm* algorithm : catalogue()) {
    if (!algorithm->scales || algorithm->scales == at_any_size) continue;
    for (const Topology& machine : machines) {
      const Rank ranks = machine.domain(0, 0).size();
      for (const std::int64_t room : {0, 10, 100, 5000, 300000}) {
        for (const std::int64_t segment : {0, 100, 4096}) {
          for (Rank rank = 0; rank < ranks; ++rank) {
            for (const bool in_place : {false, true}) {
              Problem problem{.rank = rank,
                              .ranks = ranks,
                              .root = ranks / 2,
                              .count = 1,
                              .in_place = in_place,
                              .segment = segment,
                              .topology = &machine,
                              .room = room,
                              .offloads = true};
              if (!refusal(*algorithm, problem).empty()) continue;
              const Schedule one = build(*algorithm, problem);
              for (const std::int64_t n : {1, 2, 3, 5, 8, 25, 100, 250, 999, 2000, 8192, 100000}) {
                problem.count = n;
                if (!scales(*algorithm, problem)) continue;
                longest[algorithm] = std::max(longest[algorithm], n);
                ASSERT_TRUE(build(*algorithm, problem) == scaled(one, n))
                    << name(algorithm->collective) << " " << algorithm->name << ", " << n << " units, rank " << rank
                    << " of " << ranks << ", room " << room << ", segments of " << segment;
              }
            }
          }
        }
      }
    }
    EXPECT_GE(longest[algorithm], 8) << name(algorithm->collective);
  }
  EXPECT_GE(longest.size(), 8U);
}

// So that MPI keeps nothing for a rank that is late: the lower one of two waits for a signal, the higher one for data.
TEST(Catalogue, InPlaceNothingIsSentToARankThatDemandsNothing) {
  constexpr Rank ranks = 6;
  int sends = 0;
  const auto expect_demands = [&](const Algorithm& algorithm, const Schedule& schedule) {
    for (const Operation& operation : schedule.operations) {
      if (operation.kind != Kind::send || operation.regions == 0) continue;
      const auto dependencies = schedule.dependencies_of(operation);
      const auto demands = [&](const Dependency& dependency) {
        const Operation& earlier = schedule.operations[static_cast<std::size_t>(dependency.operation)];
        const bool signal = earlier.regions == 0;
        return earlier.kind == Kind::receive && earlier.peer == operation.peer && !dependency.posted &&
               dependency.distance == 0 && signal == (schedule.rank < operation.peer);
      };
      EXPECT_TRUE(std::any_of(dependencies.begin(), dependencies.end(), demands))
          << name(algorithm.collective) << " " << algorithm.name << ", rank " << schedule.rank << " to "
          << operation.peer;
      ++sends;
    }
  };
  for (const Algorithm* algorithm : catalogue()) {
    if (!algorithm->swaps) continue;
    for (Rank rank = 0; rank < ranks; ++rank) {
      for (const std::int32_t width : {1, 3}) {
        const Problem problem{.rank = rank, .ranks = ranks, .count = 9, .in_place = true, .segment = 2, .width = width};
        expect_demands(*algorithm, build(*algorithm, problem));
      }
    }
  }
  EXPECT_GT(sends, 100);
}

TEST(Catalogue, AWidthFollowsTheName) {
  EXPECT_EQ(variant_named(Collective::alltoall, "bruck").width, 0);
  EXPECT_EQ(variant_named(Collective::alltoall, "bruck:4").width, 4);
  EXPECT_EQ(&variant_named(Collective::alltoall, "bruck:4").algorithm(), find_algorithm(Collective::alltoall, "bruck"));
  EXPECT_EQ(variant_named(Collective::alltoall, "bruck:x").width, -1);
  EXPECT_FALSE(variant_named(Collective::alltoall, "nothing:4"));
  EXPECT_NE(refusal(*find_algorithm(Collective::alltoall, "linear"), {.width = 4}), "");
  EXPECT_NE(refusal(*find_algorithm(Collective::alltoall, "bruck"), {.width = 1}), "");
}

TEST(Catalogue, LogarithmicSchedulesOfAMillionRanksAreSmallAndFastToBuild) {
  double slowest = 0;
  std::int64_t largest = 0;
  for (const Algorithm* one : catalogue()) {
    if (!one->logarithmic) continue;
    for (Rank ranks : {1 << 20, (1 << 20) - 1}) {
      for (Rank rank : {0, 1, ranks / 2, ranks - 1}) {
        Problem problem;
        problem.rank = rank;
        problem.ranks = ranks;
        problem.count = std::int64_t{1} << 30;
        problem.exposed = one->restrictions.exposed;
        double best = 1;
        std::int64_t bytes = 0;
        for (int i = 0; i < 10; ++i) {
          const auto begin = std::chrono::steady_clock::now();
          bytes = build(*one, problem).bytes();
          best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        slowest = std::max(slowest, best);
        largest = std::max(largest, bytes);
        EXPECT_LT(bytes, 1 << 20) << one->name;
        if (timing_counts) {
          EXPECT_LT(best, 1e-3) << one->name;
        }
      }
    }
  }
  std::printf("the slowest takes %.0f us, the largest %lld bytes\n", slowest * 1e6, static_cast<long long>(largest));
}

TEST(Catalogue, ThePipelinedScheduleOfAGibibyteIsNoLargerThanThatOfAMebibyte) {
  for (const Algorithm* one : catalogue()) {
    if (!one->segmented) continue;
    const auto bytes = [&](std::int64_t count) {
      Problem problem;
      problem.rank = 3;
      problem.ranks = 8;
      problem.count = count;
      problem.segment = 1 << 16;
      problem.exposed = one->restrictions.exposed;
      return build(*one, problem).bytes();
    };
    EXPECT_EQ(bytes(1 << 20), bytes(1 << 30)) << one->name;
  }
}

// The definition of a collective by hand, independent of the code that evaluates it.
TEST(Meaning, OfAlltoallvIsTheTransposedBlock) {
  Problem problem;
  problem.rank = 2;
  problem.ranks = 3;
  const auto blocks = meaning(Collective::alltoallv, problem_of(Collective::alltoallv, problem));
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[1].source, 1);
  EXPECT_EQ(blocks[1].from.block, 2);
  EXPECT_EQ(blocks[1].from.buffer, Buffer::input);
  EXPECT_EQ(blocks[1].output.block, 1);
}

TEST(Meaning, OfBcastIsTheRootsBuffer) {
  Problem problem;
  problem.rank = 1;
  problem.ranks = 3;
  problem.root = 2;
  problem.count = 9;
  const auto all = meaning(Collective::bcast, problem_of(Collective::bcast, problem));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].source, 2);
  EXPECT_FALSE(all[0].reduced);
  EXPECT_EQ(all[0].output.length, 9);
}

TEST(Meaning, OfAScanIsTheRanksUpToThisOne) {
  const Problem problem{.rank = 2, .ranks = 4, .count = 3};
  EXPECT_EQ(meaning(Collective::scan, problem_of(Collective::scan, problem)).front().end, 3);
  EXPECT_EQ(meaning(Collective::exscan, problem_of(Collective::exscan, problem)).front().end, 2);
  EXPECT_TRUE(meaning(Collective::exscan, problem_of(Collective::exscan, {.ranks = 4, .count = 3})).empty());
}

TEST(Meaning, OfAReduceScatterIsTheRanksShare) {
  const std::vector<std::int64_t> counts = {2, 0, 5};
  const Shares shares(counts);
  const Problem problem{.rank = 2, .ranks = 3, .shares = &shares};
  const Problem named = problem_of(Collective::reduce_scatter, problem);
  const Meaning share = meaning(Collective::reduce_scatter, named).front();
  EXPECT_EQ(share.from.offset, 2);
  EXPECT_EQ(share.output.length, 5);
  EXPECT_EQ(named.input.length, 7);
}

TEST(Meaning, OfAGatherInPlaceIsTheRootsOwnOutput) {
  const Problem problem{.rank = 1, .ranks = 3, .root = 1, .count = 4, .in_place = true};
  const Problem named = problem_of(Collective::gather, problem);
  EXPECT_EQ(named.input, named.output_block(1));
  const auto blocks = meaning(Collective::gather, named);
  EXPECT_EQ(blocks[1].from.buffer, Buffer::output);
  EXPECT_EQ(blocks[1].from.offset, 4);
  EXPECT_EQ(blocks[2].from.buffer, Buffer::input);
  EXPECT_EQ(block_count(Collective::gather, named, Buffer::input), 0);
}

}  // namespace
}  // namespace quadrille
