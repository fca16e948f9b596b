#include "learn/lesson.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace quadrille::learn {
namespace {

// All ranks of a communicator, in which candidate c takes time(rank, c) in a call.
class World {
 public:
  World(std::size_t ranks, std::size_t candidates, std::size_t start, double budget = 0.02)
      : ranks_(ranks, Lesson(candidates, start, {budget})) {}

  using Time = std::function<double(std::size_t rank, std::size_t candidate)>;
  // One call. Every rank must choose alike.
  std::size_t call(const Time& time) {
    if (ranks_.front().must_agree()) {
      Lesson::Word all = {};
      for (const Lesson& one : ranks_) {
        EXPECT_TRUE(one.must_agree());
        const Lesson::Word word = one.word();
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], word[i]);
      }
      for (Lesson& one : ranks_) one.agree(all);
    }
    const std::size_t who = ranks_.front().next();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      EXPECT_EQ(ranks_[rank].next(), who);
      EXPECT_FALSE(ranks_[rank].must_agree());
      ranks_[rank].ran(time(rank, who));
    }
    return who;
  }
  const Lesson& lesson() const { return ranks_.front(); }

 private:
  std::vector<Lesson> ranks_;
};

World::Time of(std::vector<double> seconds) {
  return [seconds = std::move(seconds)](std::size_t, std::size_t who) { return seconds[who]; };
}

TEST(Lesson, FindsTheFastest) {
  World world(3, 4, 0);
  const auto time = of({10e-6, 12e-6, 4e-6, 5e-6});
  for (int i = 0; i < 100; ++i) world.call(time);
  EXPECT_EQ(world.lesson().verdict(), 2U);
  int others = 0;
  for (int i = 0; i < 1000; ++i) others += world.call(time) == 2 ? 0 : 1;
  EXPECT_LT(others, 60);
  EXPECT_DOUBLE_EQ(world.lesson().seconds(0), 10e-6);
}

TEST(Lesson, ReturnsToTheMpisOwnWhereNothingIsClearlyFaster) {
  World world(2, 3, 1);
  const auto time = of({10e-6, 9.9e-6, 30e-6});
  EXPECT_EQ(world.call(time), 1U) << "what was expected to be best runs the first calls";
  for (int i = 0; i < 100; ++i) world.call(time);
  EXPECT_EQ(world.lesson().verdict(), 0U);
}

// What comes first may build schedules and connect ranks.
TEST(Lesson, TheFirstCallOfACandidateDoesNotCount) {
  World world(1, 2, 0);
  bool first = true;
  for (int i = 0; i < 60; ++i) {
    world.call([&](std::size_t, std::size_t who) {
      if (who == 0) return 10e-6;
      return std::exchange(first, false) ? 1.0 : 5e-6;
    });
  }
  EXPECT_EQ(world.lesson().verdict(), 1U);
}

TEST(Lesson, TrialsCostNoMoreThanTheirShare) {
  for (const double slow : {2.0, 5.0}) {
    World world(2, 4, 0);
    double total = 0;
    double excess = 0;
    for (int i = 0; i < 5000; ++i) {
      const std::size_t who = world.call(of({1, slow, slow, slow}));
      total += who == 0 ? 1 : slow;
      excess += who == 0 ? 0 : slow - 1;
    }
    EXPECT_EQ(world.lesson().verdict(), 0U);
    EXPECT_LT(excess, 0.02 * total);
  }
  World off(2, 3, 0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(off.call(of({1, 0.1, 0.1})), 0U);
  EXPECT_EQ(off.lesson().agreements(), 0);
}

TEST(Lesson, AgreesSeldom) {
  World world(2, 4, 0);
  for (int i = 0; i < 10000; ++i) world.call(of({3, 2, 1, 2}));
  EXPECT_LT(world.lesson().agreements(), 100);
}

// A link that is slowed down in the middle of a job.
TEST(Lesson, FollowsAMachineThatChanges) {
  for (const std::size_t winner : {0U, 1U, 3U}) {
    for (const int when : {37, 500, 5000}) {
      World world(4, 4, 0);
      for (int i = 0; i < when; ++i) world.call(of({3, 2.5, 1, 2}));
      ASSERT_EQ(world.lesson().verdict(), 2U);
      std::vector<double> later = {9, 8, 12, 8.5};
      later[winner] = 4;
      int calls = 0;
      for (; calls < 400 && world.lesson().verdict() != winner; ++calls) world.call(of(later));
      EXPECT_LE(calls, 200) << winner << " after " << when;
    }
  }
}

// Ranks with clocks and noise of their own, of which some are always late.
TEST(Lesson, NoRankEverDecidesOtherwise) {
  for (unsigned seed = 0; seed < 10000; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(0.1, 10);
    const std::size_t ranks = 1 + random() % 5;
    const std::size_t candidates = 1 + random() % 5;
    World world(ranks, candidates, random() % 5, random() % 4 == 0 ? 0.5 : 0.02);
    const std::size_t calls = random() % 120;
    for (std::size_t i = 0; i < calls; ++i) {
      world.call([&](std::size_t rank, std::size_t) { return any(random) * static_cast<double>(1 + rank); });
    }
    ASSERT_FALSE(HasFailure()) << seed;
  }
}

}  // namespace
}  // namespace quadrille::learn
