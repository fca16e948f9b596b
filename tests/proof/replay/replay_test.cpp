#include <gtest/gtest.h>

#include "algorithms/catalogue.hpp"
#include "replay/trial.hpp"

namespace quadrille::replay {
namespace {

Problem problem_on(Rank ranks, std::int64_t count) {
  Problem problem;
  problem.ranks = ranks;
  problem.root = ranks / 2;
  problem.count = count;
  problem.segment = 3;
  return problem;
}

TEST(Replay, EveryWindowAndEveryOrderOfPostingGiveTheSameResult) {
  const BlockSizes sizes = [](Rank from, Rank to) { return std::int64_t{(from * 5 + to * 3) % 4}; };
  for (const Algorithm* algorithm : catalogue()) {
    for (Rank ranks : {2, 3, 5, 8}) {
      if (!refusal(*algorithm, problem_on(ranks, 13)).empty()) continue;
      for (std::int64_t window = 1; window <= 2 * ranks + 2; ++window) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          Trial trial = trial_of(*algorithm, problem_on(ranks, 13), sizes);
          trial.options.window = window;
          trial.options.seed = seed;
          EXPECT_EQ(run(trial), "") << algorithm->name << " on " << ranks << ", window " << window << ", seed " << seed;
        }
      }
    }
  }
}

Trial bcast_by(const Build& build) {
  return {.collective = Collective::bcast, .build = build, .rounds = {problem_on(2, 4)}};
}

TEST(Replay, ADeadlockIsReportedWithWhatEachRankWaitsFor) {
  const std::string fault = run(bcast_by([](const Problem& problem) {
    Builder builder(problem.rank, 2, Unit::bytes);
    builder.receive(1 - problem.rank, problem.output);
    return builder.finish();
  }));
  EXPECT_NE(fault.find("rank 0: 0 receive from 1"), std::string::npos) << fault;
  EXPECT_NE(fault.find("rank 1: 0 receive from 0"), std::string::npos) << fault;
}

TEST(Replay, AMismatchedLengthIsReported) {
  const std::string fault = run(bcast_by([](const Problem& problem) {
    Builder builder(problem.rank, 2, Unit::bytes);
    if (problem.rank == problem.root) builder.send(0, problem.output);
    if (problem.rank != problem.root) builder.receive(1, problem.output.part(0, 3));
    return builder.finish();
  }));
  EXPECT_NE(fault.find("sends 4 bytes"), std::string::npos) << fault;
}

TEST(Replay, AnUnmatchedMessageIsReported) {
  Trial trial = bcast_by([](const Problem& problem) {
    Builder builder(problem.rank, 2, Unit::bytes);
    if (problem.rank == problem.root) builder.send_signal(0);
    return builder.finish();
  });
  trial.options.sends = Sends::buffered;
  EXPECT_EQ(run(trial), "a message was sent but not received");
}

TEST(Replay, RanksAreDelayedSoThatAMissingBarrierIsFound) {
  Trial trial{.collective = Collective::barrier, .build = {}, .rounds = {problem_on(3, 0)}};
  trial.build = [](const Problem& problem) { return Builder(problem.rank, 3, Unit::bytes).finish(); };
  int found = 0;
  for (trial.options.seed = 1; trial.options.seed <= 20; ++trial.options.seed) found += run(trial).empty() ? 0 : 1;
  EXPECT_GT(found, 0);
}

TEST(Replay, AWrongResultIsReported) {
  EXPECT_EQ(run(bcast_by([](const Problem& problem) { return Builder(problem.rank, 2, Unit::bytes).finish(); })),
            "rank 0: wrong output");
}

}  // namespace
}  // namespace quadrille::replay
