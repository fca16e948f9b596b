#include "measure/cell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace quadrille::measure {
namespace {

// Simulates ranks that follow instructions, with a simulated clock.
struct Play {
  Cell& cell;
  std::vector<double> seconds;   // of a call, by variant
  double getting_ready = 10e-6;  // from the instruction until the slowest is ready
  double now = 100;
  double beginning = 0;  // from the start until the slowest begins
  std::vector<Instruction> instructions = {};

  void run() {
    for (;;) {
      const Instruction instruction = cell.next(now, 0);
      if (instruction.variant < 0) return;
      instructions.push_back(instruction);
      const double arrived = now + getting_ready;
      const double ended = std::max(arrived, instruction.start) +
                           instruction.calls * seconds[static_cast<std::size_t>(instruction.variant)];
      const double began = instruction.start + beginning;
      const Timing timings[] = {{.arrived = now, .began = began, .ended = ended},
                                {.arrived = arrived, .began = instruction.start, .ended = ended}};
      cell.record(timings, "");
      now = ended;
    }
  }
};

TEST(Cell, EveryRoundHasEveryVariantOnce) {
  Cell cell(3, 2, {.least = 7}, {}, 1);
  Play play{cell, {1e-3, 2e-3, 3e-3}};
  play.run();
  ASSERT_EQ(play.instructions.size() % 3, 0U);
  for (std::size_t i = 0; i < play.instructions.size(); i += 3) {
    std::set<std::int32_t> variants;
    for (std::size_t j = i; j < i + 3; ++j) {
      variants.insert(play.instructions[j].variant);
      EXPECT_EQ(play.instructions[j].root, play.instructions[i].root);
    }
    EXPECT_EQ(variants.size(), 3U);
  }
  EXPECT_EQ(cell.rounds(), 7);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cell.variants()[i].seconds.size(), 7U);
    for (double seconds : cell.variants()[i].seconds) EXPECT_NEAR(seconds, 1e-3 * static_cast<double>(i + 1), 1e-9);
  }
}

TEST(Cell, TheOrderChangesFromRoundToRound) {
  Cell cell(2, 2, {.least = 40}, {}, 1);
  Play play{cell, {1e-3, 1e-3}};
  play.run();
  std::set<std::int32_t> firsts;
  for (std::size_t i = 0; i < play.instructions.size(); i += 2) firsts.insert(play.instructions[i].variant);
  EXPECT_EQ(firsts.size(), 2U);
}

TEST(Cell, ShortCallsAreRepeated) {
  Cell cell(1, 2, {.least = 7}, {.least_repeat = 50e-6}, 1);
  Play play{cell, {1e-6}};
  play.run();
  EXPECT_NEAR(play.instructions.back().calls, 50, 1);
  EXPECT_NEAR(cell.variants()[0].seconds.back(), 1e-6, 1e-9);
}

TEST(Cell, OverlappingCallsAreMeasuredOnePerRepeat) {
  Cell cell(1, 2, {.least = 7}, {.least_repeat = 50e-6, .one_call = true}, 1);
  Play play{cell, {1e-6}};
  play.run();
  for (const Instruction& instruction : play.instructions) EXPECT_EQ(instruction.calls, 1);
}

TEST(Cell, AnOutlierAmongTheProbesDoesNotDetermineTheCallsPerRepeat) {
  Cell cell(1, 2, {.least = 7}, {.least_repeat = 50e-6}, 1);
  double now = 100;
  int calls = 0;
  for (int i = 0;; ++i) {
    const Instruction instruction = cell.next(now, 0);
    if (instruction.variant < 0) break;
    calls = instruction.calls;
    now = instruction.start + instruction.calls * (i == 3 ? 1e-3 : 1e-6);  // the last of the probes is disturbed
    const Timing timings[] = {{.arrived = instruction.start, .began = instruction.start, .ended = now}};
    cell.record(timings, "");
  }
  EXPECT_NEAR(calls, 50, 1);
  EXPECT_NEAR(cell.variants()[0].probed(), 1e-6, 1e-9);
}

TEST(Cell, EachVariantIsWarmedUpWithEachRoot) {
  for (const int ranks : {1, 2, 3, 4, 7, 64}) {
    Cell cell(2, ranks, {.least = 8}, {.one_call = true, .rooted = true}, 1);
    Play play{cell, {1e-3, 2e-3}};
    play.run();
    std::set<std::pair<std::int32_t, std::int32_t>> all;
    for (const Instruction& instruction : play.instructions) all.insert({instruction.variant, instruction.root});
    EXPECT_EQ(all.size(), 2U * static_cast<std::size_t>(std::min(ranks, 4)));
    for (const auto& [variant, root] : all) EXPECT_LT(root, ranks);
    const std::set<std::pair<std::int32_t, std::int32_t>> whole = all;
    const std::size_t uncounted = play.instructions.size() - 2 * static_cast<std::size_t>(cell.rounds());
    all.clear();
    for (std::size_t i = 0; i < uncounted; ++i) all.insert({play.instructions[i].variant, play.instructions[i].root});
    EXPECT_EQ(all, whole) << ranks;
  }
}

TEST(Cell, ARankThatStartsLateWasDisturbedUnlessOversubscribed) {
  for (const bool own_cores : {false, true}) {
    Cell cell(1, 2, {.least = 7}, {.own_cores = own_cores}, 1);
    Play play{cell, {1e-3}};
    play.beginning = 60e-6;
    play.run();
    EXPECT_EQ(cell.rounds(), 7);
    EXPECT_EQ(cell.variants()[0].discarded, own_cores ? 5 * (3 + 7) : 0);  // always late: accepted after a few times
  }
  Cell cell(1, 2, {.least = 7}, {.own_cores = true}, 1);
  Play play{cell, {1e-3}};
  play.beginning = 40e-6;
  play.run();
  EXPECT_EQ(cell.variants()[0].discarded, 0);
}

TEST(Cell, ALateRankCostsRepeatsButDoesNotCount) {
  Cell cell(1, 2, {.least = 7}, {}, 1);
  Play play{cell, {1e-3}, 20e-3};
  play.run();
  EXPECT_GT(cell.variants()[0].discarded, 0);
  EXPECT_LT(cell.variants()[0].discarded, 7);
  for (double seconds : cell.variants()[0].seconds) EXPECT_NEAR(seconds, 1e-3, 1e-9);
}

TEST(Cell, GivesUpOnARankThatIsAlwaysTooLate) {
  Cell cell(1, 2, {.least = 7}, {}, 1);
  Play play{cell, {1e-3}, 1e3};
  play.run();
  EXPECT_EQ(cell.rounds(), 0);
}

TEST(Cell, EndsWhenTimeIsUp) {
  Cell cell(1, 2, {.precision = 1e-9, .seconds = 0.5, .least = 5, .most = 1000000}, {}, 1);
  Play play{cell, {1e-3}};
  play.getting_ready = 0;
  // Ever slower, so that no interval is narrow enough.
  for (int i = 0;; ++i) {
    const Instruction instruction = cell.next(play.now, 0);
    if (instruction.variant < 0) break;
    const double ended = instruction.start + 1e-3 * (1 + 0.1 * i);
    const Timing timings[] = {{.arrived = play.now, .ended = ended}};
    cell.record(timings, "");
    play.now = ended;
  }
  EXPECT_GT(cell.rounds(), 5);
  EXPECT_NEAR(play.now, 100.5, 0.05);
  EXPECT_FALSE(cell.settled(cell.variants()[0]));
}

TEST(Cell, TheMinimumRepeatsAreMadeAfterTheTimeLimitButNotForever) {
  Cell cell(1, 2, {.seconds = 0.02, .least = 20}, {}, 1);
  Play play{cell, {1e-3}};
  play.run();
  EXPECT_EQ(cell.rounds(), 20);
  Cell endless(1, 2, {.seconds = 0.02, .least = 100000, .most = 100000}, {}, 1);
  Play long_play{endless, {1e-3}};
  long_play.run();
  EXPECT_GT(endless.rounds(), 20);
  constexpr std::size_t first_calls = 4;  // one of each root, and three probes
  EXPECT_NEAR(long_play.now - long_play.instructions[first_calls].start, 0.08, 0.01);
}

TEST(Cell, WhatTakesTooLongIsDroppedAfterTwoCallsUnlessItIsKept) {
  Cell cell(4, 8, {.least = 7, .within = 3}, {.rooted = true, .kept = 2}, 1);
  Play play{cell, {1e-3, 9e-3, 2.9e-3, 3.1e-3}};
  play.run();
  const auto calls = [&](std::int32_t variant) {
    return std::count_if(play.instructions.begin(), play.instructions.end(),
                         [&](const Instruction& one) { return one.variant == variant; });
  };
  EXPECT_EQ(calls(3), 2);
  EXPECT_FALSE(cell.variants()[3].usable);
  EXPECT_NE(cell.variants()[3].refusal.find("3.1 times"), std::string::npos);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(cell.variants()[i].seconds.size(), 7U);
}

TEST(Cell, AVariantThatIsNotApplicableIsSkipped) {
  Cell cell(2, 2, {.least = 7}, {}, 1);
  for (double now = 100;;) {
    const Instruction instruction = cell.next(now, 0);
    if (instruction.variant < 0) break;
    now = instruction.start + 1e-3;
    const Timing timings[] = {
        {.arrived = instruction.start, .ended = now, .refused = instruction.variant == 1 ? 1.0 : 0.0}};
    cell.record(timings, instruction.variant == 1 ? "needs an even number of ranks" : "");
  }
  EXPECT_TRUE(cell.variants()[0].usable);
  EXPECT_EQ(cell.variants()[0].seconds.size(), 7U);
  EXPECT_FALSE(cell.variants()[1].usable);
  EXPECT_EQ(cell.variants()[1].refusal, "needs an even number of ranks");
}

}  // namespace
}  // namespace quadrille::measure
