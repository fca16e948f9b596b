#include "verify/unrolled.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "algorithms/catalogue.hpp"
#include "topology/topology.hpp"
#include "verify/subject.hpp"

namespace quadrille::verify {
namespace {

// What a run waits for, written down in full: of a loop's window every operation, of a loop before every iteration.
class InFull {
 public:
  InFull(const Schedule& schedule, const Unrolled& unrolled, std::vector<std::int64_t> iterations)
      : schedule_(schedule),
        unrolled_(unrolled),
        iterations_(std::move(iterations)),
        posted_(static_cast<std::size_t>(unrolled.size()), Row(static_cast<std::size_t>(unrolled.size()))),
        complete_(posted_) {
    for (std::int32_t later = 0; later < unrolled.size(); ++later) add(later);
  }

  bool ordered(std::int32_t earlier, std::int32_t later, bool posted) const {
    return (posted ? posted_ : complete_)[static_cast<std::size_t>(later)][static_cast<std::size_t>(earlier)];
  }

 private:
  using Row = std::vector<bool>;

  void add(std::int32_t later) {
    const Token at = unrolled_.token(later);
    const Operation& of = unrolled_.operation(later);
    for (const Dependency& one : schedule_.dependencies_of(of)) {
      const Operation& earlier = schedule_.operations[static_cast<std::size_t>(one.operation)];
      if (of.loop >= 0 && earlier.loop == of.loop) {
        if (at.iteration >= one.distance) follow(later, {one.operation, at.iteration - one.distance}, one.posted);
        continue;
      }
      const std::int64_t count = earlier.loop < 0 ? 1 : iterations_[static_cast<std::size_t>(earlier.loop)];
      for (std::int64_t k = 0; k < count; ++k) follow(later, {one.operation, k}, one.posted);
    }
    if (of.loop < 0 || at.iteration == 0) return;
    follow(later, {at.operation, at.iteration - 1}, true);
    const Loop& loop = schedule_.loops[static_cast<std::size_t>(of.loop)];
    for (std::int32_t id = loop.first; id < loop.last && at.iteration >= loop.window; ++id) {
      follow(later, {id, at.iteration - loop.window}, false);
    }
  }

  void follow(std::int32_t later, Token token, bool posted_only) {
    const auto before = static_cast<std::size_t>(unrolled_.instance(token));
    const auto to = static_cast<std::size_t>(later);
    posted_[to][before] = true;
    if (!posted_only) complete_[to][before] = true;
    for (std::size_t i = 0; i < posted_.size(); ++i) {
      if (posted_[before][i]) posted_[to][i] = true;
      if (complete_[before][i]) complete_[to][i] = true;
    }
  }

  const Schedule& schedule_;
  const Unrolled& unrolled_;
  std::vector<std::int64_t> iterations_;
  std::vector<Row> posted_;  // by the later instance
  std::vector<Row> complete_;
};

std::vector<std::int64_t> iterations_of(const Schedule& schedule) {
  std::vector<std::int64_t> iterations;
  for (const Loop& loop : schedule.loops) iterations.push_back(loop.chunk > 0 ? 5 : loop.iterations);
  return iterations;
}

TEST(Unrolled, WhatIsLeftOutOfThePredecessorsFollowsFromTheRest) {
  constexpr Rank ranks = 4;
  const Topology nodes(ranks, {{0, 0, 1, 1}});
  int loops = 0;
  for (const Algorithm* algorithm : catalogue()) {
    if (traits(algorithm->collective).counts_differ) continue;
    for (const std::int32_t window : {1, 3}) {
      Problem problem{.ranks = ranks, .count = 24, .segment = 4, .window = window, .topology = &nodes, .room = 24};
      if (!refusal(*algorithm, problem).empty()) continue;
      const Subject subject = subject_of(*algorithm, problem, [](Rank, Rank) { return 24; });
      for (const Schedule& schedule : subject.schedules) {
        if (schedule.loops.empty()) continue;
        const std::vector<std::int64_t> iterations = iterations_of(schedule);
        const Unrolled unrolled(schedule, iterations);
        loops += static_cast<int>(schedule.loops.size());
        const InFull full(schedule, unrolled, iterations);
        for (std::int32_t later = 0; later < unrolled.size(); ++later) {
          for (std::int32_t earlier = 0; earlier < unrolled.size(); ++earlier) {
            if (earlier == later) continue;
            for (const bool posted : {false, true}) {
              ASSERT_EQ(unrolled.ordered(earlier, later, posted), full.ordered(earlier, later, posted))
                  << name(algorithm->collective) << ' ' << algorithm->name << ", rank " << schedule.rank << ", "
                  << earlier << " and " << later << (posted ? ", posted" : ", complete");
            }
          }
        }
      }
    }
  }
  EXPECT_GT(loops, 100);
}

}  // namespace
}  // namespace quadrille::verify
