#include <gtest/gtest.h>

#include "replay/trial.hpp"
#include "stretch/schedules.hpp"
#include "stretch/sparse_exchange.hpp"
#include "verify/proof.hpp"

namespace quadrille {
namespace {

Problem bcast_problem(Rank ranks, Rank root, std::int64_t count, std::int64_t segment) {
  Problem problem;
  problem.ranks = ranks;
  problem.root = root;
  problem.count = count;
  problem.segment = segment;
  return problem;
}

// Proves one, two and three in a row with rotating roots, and replays them.
void expect_right(const Build& build, const Problem& problem) {
  std::vector<verify::Subject> subjects;
  replay::Trial trial{.collective = Collective::bcast, .build = build, .rounds = {}};
  for (Rank round = 0; round < 3; ++round) {
    Problem one = problem;
    one.root = (problem.root + round) % problem.ranks;
    subjects.push_back(verify::subject_of(Collective::bcast, build, one, {}, 0));
    trial.rounds.push_back(one);
    const verify::ProofResult verdict = verify::prove(verify::in_a_row(subjects));
    EXPECT_TRUE(verdict.proved()) << problem.ranks << " ranks, " << problem.count << " units, " << round + 1
                                  << " in a row: " << verdict.fault;
  }
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    trial.options.seed = seed;
    trial.options.window = static_cast<std::int64_t>(1 + seed % 4);
    trial.types = seed % 2 == 0 ? replay::Types::gaps : replay::Types::contiguous;
    EXPECT_EQ(replay::run(trial), "") << problem.ranks << " ranks, seed " << seed;
  }
}

TEST(Stretch, SharedMemoryBcastReusesItsSlotsSafely) {
  for (Rank ranks : {1, 2, 3, 4, 7, 8}) {
    for (std::int64_t count : {0, 1, 4, 5, 8, 13, 21}) {
      expect_right(stretch::shared_memory_bcast, bcast_problem(ranks, ranks / 2, count, 4));
    }
  }
}

TEST(Stretch, OneSidedBcastForwardsOnlyWhatHasArrived) {
  for (Rank ranks : {1, 2, 3, 4, 5, 7, 8, 11, 16}) {
    for (std::int64_t count : {1, 9}) expect_right(stretch::one_sided_bcast, bcast_problem(ranks, ranks - 1, count, 0));
  }
}

TEST(Stretch, TwoLevelBcastIsPipelinedByComposition) {
  for (Rank ranks : {1, 2, 3, 4, 7, 8, 11, 16}) {
    for (Rank per_node : {1, 2, 3, 4}) {
      const Topology topology = Topology::nodes(ranks, per_node);
      for (std::int64_t count : {0, 1, 5, 23}) {
        Problem problem = bcast_problem(ranks, ranks / 2, count, 5);
        problem.topology = &topology;
        expect_right(stretch::two_level_bcast, problem);
      }
    }
  }
}

TEST(Stretch, LevelsOverlapInsteadOfBeingSequential) {
  // 4 nodes of 4: a chain of 4 leaders, then 2 steps of a tree, for each of 16 segments. Every leader sends a segment
  // on and to two children, so a segment takes 3 steps of its time; levels one after the other would take 19 + 16 * 2.
  const Topology topology = Topology::nodes(16, 4);
  Problem problem = bcast_problem(16, 0, 160, 10);
  problem.topology = &topology;
  const auto verdict = verify::prove(verify::subject_of(Collective::bcast, stretch::two_level_bcast, problem, {}, 0));
  ASSERT_TRUE(verdict.proved()) << verdict.fault;
  EXPECT_LE(verdict.steps, 3 * 16 + 5);
}

TEST(Stretch, ThreeLevelBcastWorksLikeTwo) {
  for (Rank ranks : {1, 5, 12, 24}) {
    const Topology topology = stretch::racks(ranks, 2, 3);
    Problem problem = bcast_problem(ranks, ranks / 3, 17, 4);
    problem.topology = &topology;
    expect_right(stretch::three_level_bcast, problem);
  }
}

TEST(Stretch, InPlaceExchangeHandlesBlocksOfUnknownLengthInBoundedMemory) {
  for (Rank ranks : {1, 2, 3, 4, 5, 8}) {
    for (std::int64_t chunk : {1, 3, 16}) {
      Problem problem;
      problem.ranks = ranks;
      problem.segment = chunk;
      problem.in_place = true;
      problem.window = chunk == 3 ? 2 : 4;
      const BlockSizes sizes = [](Rank a, Rank b) {
        return (a + b) % 4 == 1 ? std::int64_t{0} : std::int64_t{(a + b) % 4} * (a + b) + (a == b ? 2 : 3);
      };
      const auto verdict = verify::prove(
          verify::subject_of(Collective::alltoallv, stretch::in_place_alltoallv, problem, sizes, 2 * chunk));
      EXPECT_TRUE(verdict.proved()) << ranks << " ranks: " << verdict.fault;
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        replay::Trial trial{.collective = Collective::alltoallv,
                            .build = stretch::in_place_alltoallv,
                            .rounds = {problem},
                            .sizes = sizes};
        trial.options.seed = seed;
        trial.options.window = static_cast<std::int64_t>(1 + seed % 4);
        EXPECT_EQ(replay::run(trial), "") << ranks << " ranks, chunk " << chunk << ", seed " << seed;
      }
    }
  }
}

TEST(Stretch, PhasesThatDependOnReceivedDataRunAndAreProved) {
  for (Rank ranks : {1, 2, 3, 5, 8}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const BlockSizes sizes = [seed](Rank from, Rank to) {
        const std::uint64_t mixed =
            (static_cast<std::uint64_t>(from) * 31 + static_cast<std::uint64_t>(to) * 17 + seed) * 2654435761U;
        return mixed % 3 == 0 ? static_cast<std::int64_t>(mixed % 7) : 0;
      };
      const verify::ProofResult verdict = verify::prove(stretch::replayed_sparse_exchange(ranks, sizes, seed));
      EXPECT_TRUE(verdict.proved()) << ranks << " ranks, seed " << seed << ": " << verdict.fault;
      std::int64_t wanted = std::int64_t{ranks} * (ranks - 1);
      for (Rank from = 0; from < ranks; ++from) {
        for (Rank to = 0; to < ranks; ++to) wanted += from != to && sizes(from, to) > 0 ? 1 : 0;
      }
      EXPECT_EQ(verdict.messages, wanted);
    }
  }
}

}  // namespace
}  // namespace quadrille
