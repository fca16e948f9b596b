#include "learn/lesson.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace quadrille::learn {
namespace {

// All ranks of a communicator, in which candidate c takes time(rank, c) in a call.
class World {
 public:
  World(std::size_t ranks, const std::vector<double>& expected, std::size_t start, double share = 0.02,
        const std::vector<double>& known = {}, Lesson::Calls calls = Lesson::Calls::apart)
      : ranks_(ranks, Lesson(expected, start, share, known, calls)) {}

  using Time = std::function<double(std::size_t rank, std::size_t candidate)>;
  // One call. Every rank must choose alike.
  std::size_t call(const Time& time) {
    if (ranks_.front().must_agree()) {
      Lesson::Word all;
      all.fill(-1e9);
      for (const Lesson& one : ranks_) {
        EXPECT_TRUE(one.must_agree());
        const Lesson::Word word = one.word();
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], word[i]);
      }
      for (Lesson& one : ranks_) one.agree(all, agreement_);
    }
    met_ = ranks_.front().must_meet();
    const std::size_t who = ranks_.front().next();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      EXPECT_EQ(ranks_[rank].next(), who);
      EXPECT_FALSE(ranks_[rank].must_agree());
      EXPECT_EQ(ranks_[rank].must_meet(), met_);
      // Some ranks take the quick way, others don't.
      if (who == 0 && ways_() % 2 == 0 && ranks_[rank].ran_by_mpi()) continue;
      if (met_) ranks_[rank].met(rank == 0 ? meeting_ : 0);
      const double took = time(rank, who);
      if (ranks_[rank].timed()) {
        ranks_[rank].ran(took);
      } else {
        ranks_[rank].ran();
      }
    }
    return who;
  }
  // Whether the ranks waited for each other before the last call.
  bool met() const { return met_; }
  const Lesson& lesson() const { return ranks_.front(); }
  void agree_in(double seconds) { agreement_ = seconds; }
  // The first rank waits so long for the others.
  void meet_in(double seconds) { meeting_ = seconds; }
  void pay_from(std::int64_t calls, double seconds, double context) {
    credits_.assign(ranks_.size(), Credit(calls, seconds, context, 0.02));
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank].pay_from(credits_[rank]);
  }

 private:
  std::vector<Credit> credits_;
  std::vector<Lesson> ranks_;
  std::minstd_rand ways_;
  double meeting_ = 0;
  double agreement_ = 1e-9;
  bool met_ = false;
};

World::Time of(std::vector<double> seconds) {
  return [seconds = std::move(seconds)](std::size_t, std::size_t who) { return seconds[who]; };
}

TEST(Lesson, FindsTheFastest) {
  World world(3, {10e-6, 9e-6, 5e-6, 5e-6}, 0);
  const auto time = of({10e-6, 12e-6, 4e-6, 5e-6});
  for (int i = 0; i < 100; ++i) world.call(time);
  EXPECT_EQ(world.lesson().verdict(), 2U);
  int others = 0;
  for (int i = 0; i < 1000; ++i) others += world.call(time) == 2 ? 0 : 1;
  EXPECT_LT(others, 60);
  EXPECT_DOUBLE_EQ(world.lesson().seconds(0), 10e-6);
}

TEST(Lesson, ReturnsToTheMpisOwnWhereNothingIsClearlyFaster) {
  World world(2, {10e-6, 5e-6, 9e-6}, 1);
  const auto time = of({10e-6, 9.9e-6, 30e-6});
  EXPECT_EQ(world.call(time), 1U) << "what was expected to be best runs the first calls";
  for (int i = 0; i < 100; ++i) world.call(time);
  EXPECT_EQ(world.lesson().verdict(), 0U);
}

// What comes first may build schedules and connect ranks.
TEST(Lesson, TheFirstCallOfACandidateDoesNotCount) {
  World world(1, {10e-6, 5e-6}, 0);
  bool first = true;
  for (int i = 0; i < 120; ++i) {
    world.call([&](std::size_t, std::size_t who) {
      if (who == 0) return 10e-6;
      return std::exchange(first, false) ? 1.0 : 5e-6;
    });
  }
  EXPECT_EQ(world.lesson().verdict(), 1U);
}

TEST(Lesson, TrialsCostNoMoreThanTheirShare) {
  for (const double slow : {2.0, 5.0}) {
    World world(2, {1, 1, 0.5, 1.1}, 0);
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
  World off(2, {1, 0.1, 0.1}, 0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(off.call(of({1, 0.1, 0.1})), 0U);
  EXPECT_EQ(off.lesson().agreements(), 0);
}

TEST(Lesson, AgreesSeldom) {
  World world(2, {3, 2, 1, 2}, 0);
  for (int i = 0; i < 10000; ++i) world.call(of({3, 2, 1, 2}));
  EXPECT_LT(world.lesson().agreements(), 100);
}

// A link that is slowed down in the middle of a job.
TEST(Lesson, FollowsAMachineThatChanges) {
  for (const std::size_t winner : {0U, 1U, 3U}) {
    for (const int when : {90, 500, 5000}) {
      World world(4, {3, 2.5, 1, 2}, 0);
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
    std::vector<double> expected(1 + random() % 8);
    for (double& one : expected) one = any(random);
    World world(ranks, expected, random() % 8, random() % 4 == 0 ? 0.5 : 0.02, {},
                static_cast<Lesson::Calls>(random() % 3));
    const std::size_t calls = random() % 300;
    for (std::size_t i = 0; i < calls; ++i) {
      world.call([&](std::size_t rank, std::size_t) { return any(random) * static_cast<double>(1 + rank); });
    }
    ASSERT_FALSE(HasFailure()) << seed;
  }
}

// What is counted in advance may never be called.
TEST(Lesson, ARoundIsPaidFromCallsThatWereMade) {
  Credit credit(17, 17e-6, 20e-6, 0.02);
  const std::int64_t before = credit.calls_left(false);
  Lesson lesson(std::vector<double>{1e-6, 0.6e-6}, 0, 0.02);
  lesson.pay_from(credit);
  lesson.ran(1e-6);
  EXPECT_EQ(credit.calls_left(false), before - 1);
  int quick = 0;
  while (lesson.ran_by_mpi()) ++quick;
  EXPECT_GT(quick, 5);
  lesson.timed() ? lesson.ran(1e-6) : lesson.ran();
  EXPECT_EQ(credit.calls_left(false), before - 2 - quick);
}

// Cases of a communicator share what they may pay, and are called in any order.
TEST(Lesson, NoRankEverDecidesOtherwiseWhereCasesShareACredit) {
  constexpr std::size_t ranks = 3;
  constexpr std::size_t cases = 4;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(0.5e-6, 2e-6);
    std::vector<Credit> credits(ranks, Credit(17, 17e-6, 20e-6, 0.02));
    std::vector<std::vector<Lesson>> lessons(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t i = 0; i < cases; ++i) {
        lessons[rank].emplace_back(std::vector<double>{1e-6, 0.6e-6}, 0, 0.02, std::vector<double>{},
                                   i % 2 == 0 ? Lesson::Calls::apart : Lesson::Calls::overlapping);
      }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (Lesson& one : lessons[rank]) one.pay_from(credits[rank]);
    }
    for (int call = 0; call < 3000; ++call) {
      const std::size_t about = random() % cases;
      Lesson& first = lessons[0][about];
      if (first.must_agree()) {
        for (auto& of_rank : lessons) ASSERT_TRUE(of_rank[about].must_agree()) << seed;
        const Lesson::Word word = first.word();
        for (auto& of_rank : lessons) of_rank[about].agree(word, 1e-6);
      }
      const double took = any(random);
      for (auto& of_rank : lessons) {
        Lesson& one = of_rank[about];
        ASSERT_EQ(one.next(), first.next()) << seed;
        ASSERT_FALSE(one.must_agree()) << seed;
      }
      for (auto& of_rank : lessons) {
        Lesson& one = of_rank[about];
        if (random() % 2 == 0 && one.ran_by_mpi()) continue;
        one.timed() ? one.ran(took) : one.ran();
      }
    }
    for (std::size_t i = 0; i < cases; ++i) EXPECT_EQ(lessons[0][i].calls(), lessons[2][i].calls());
  }
}

// A price may be wrong: what is expected to be little faster, or slower, waits until there is time to be a share of.
TEST(Lesson, TriesFirstWhatIsExpectedToBeMuchFaster) {
  World world(2, {1, 0.9, 0.4, 1.3}, 0);
  int first_of_1 = 0;
  int first_of_2 = 0;
  for (int i = 1; i < 2000; ++i) {
    const std::size_t who = world.call(of({1, 0.95, 0.97, 0.1}));
    EXPECT_NE(who, 3U) << "its price is far above the MPI's own";
    if (who == 1 && first_of_1 == 0) first_of_1 = i;
    if (who == 2 && first_of_2 == 0) first_of_2 = i;
  }
  EXPECT_GT(first_of_2, 0);
  EXPECT_LT(first_of_2, 50);
  EXPECT_GT(first_of_1, 60);
}

// The MPI's own function may be slower than its algorithms could be.
TEST(Lesson, TriesWhatIsExpectedToBeSlowerWhereTheMpisOwnIsSlowerYet) {
  World world(2, {1, 2}, 0);
  for (int i = 0; i < 100; ++i) world.call(of({10, 2}));
  EXPECT_EQ(world.lesson().verdict(), 1U);
  EXPECT_GT(world.lesson().saved(), 8 * 40);
  EXPECT_GT(world.lesson().replaced(), 40);
}

// The MPI's own is not tried before that has been paid for.
TEST(Lesson, TrustsWhatAnEarlierJobHasMeasuredAsLongAsItIsSo) {
  World world(2, {1, 1}, 1, 0.02, {10, 1});
  int native = 0;
  for (int i = 0; i < 1000; ++i) native += world.call(of({10, 1})) == 0 ? 1 : 0;
  EXPECT_EQ(native, 3);
  World changed(2, {1, 1}, 1, 0.02, {10, 1});
  int calls = 0;
  for (; calls < 400 && changed.lesson().verdict() != 0; ++calls) changed.call(of({10, 20}));
  EXPECT_LT(calls, 200);
  World unknown(2, {1, 1}, 1, 0.02, {0, 1});
  for (int i = 0; i < 50; ++i) unknown.call(of({1, 20}));
  EXPECT_EQ(unknown.lesson().verdict(), 0U);
}

// The numbers of another machine: what is expected to be slowest is not tried though its price is far below what was
// measured of the MPI's own.
TEST(Lesson, PricesOfAnotherMachineStillSayWhatIsSlow) {
  World world(2, {1e-3, 0.9e-3, 3.9e-3, 20e-3}, 0);
  for (int i = 0; i < 100; ++i) {
    const std::size_t who = world.call(of({1, 0.4, 4, 20}));
    EXPECT_LT(who, 2U) << i;
  }
  EXPECT_EQ(world.lesson().verdict(), 1U);
}

// A rank that is late, once, must not make the MPI's own function seem slow for ever.
TEST(Lesson, AnAccidentIsForgotten) {
  World world(2, {1, 0.5}, 1);
  int calls = 0;
  for (; calls < 20; ++calls) world.call(of({1e6, 3}));
  EXPECT_EQ(world.lesson().verdict(), 1U);
  for (; calls < 2000 && world.lesson().verdict() != 0; ++calls) world.call(of({1, 3}));
  EXPECT_LT(calls, 200);
}

TEST(Lesson, AgreesTheMoreSeldomTheLessCallsTakeThanAgreements) {
  World world(2, {3, 2}, 0);
  world.agree_in(100);
  for (int i = 0; i < 100000; ++i) world.call(of({1, 2}));
  EXPECT_LT(world.lesson().agreements(), 16);
  EXPECT_GT(world.lesson().agreements(), 4);
}

// A call by another candidate than the last takes long.
TEST(Lesson, AgreesTheMoreSeldomTheMoreItTakesToGoFromOneToTheNext) {
  std::int64_t agreements = 0;
  for (const double switching : {100.0, 0.0}) {
    World world(1, {3, 2}, 0);
    std::size_t last = 0;
    for (int i = 0; i < 100000; ++i) {
      world.call([&](std::size_t, std::size_t who) { return (std::exchange(last, who) != who ? switching : 0) + 1; });
    }
    EXPECT_GT(world.lesson().agreements(), std::max<std::int64_t>(4, 4 * agreements));
    agreements = world.lesson().agreements();
  }
}

TEST(Lesson, WhatWasBestMayHaveAnAccident) {
  World world(2, {10, 4}, 0);
  int calls = 0;
  for (; calls < 200 && world.lesson().agreements() < 2; ++calls) world.call(of({10, 4}));
  ASSERT_EQ(world.lesson().verdict(), 1U);
  for (; calls < 400 && world.lesson().agreements() < 3; ++calls) world.call(of({10, 400}));
  ASSERT_EQ(world.lesson().verdict(), 0U);
  int later = 0;
  for (; later < 100 && world.lesson().verdict() != 1; ++later) world.call(of({10, 4}));
  EXPECT_LT(later, 10);
}

// A chain: the first call takes long, and each one after it little. By the first alone a tree would be faster.
TEST(Lesson, CallsThatOverlapAreTimedInARow) {
  for (const auto calls : {Lesson::Calls::apart, Lesson::Calls::overlapping}) {
    World world(2, {10, 4, 6}, 0, 0.02, {}, calls);
    int in_a_row = 0;
    std::size_t last = 0;
    for (int i = 0; i < 100; ++i) {
      const std::size_t who = world.call([&](std::size_t, std::size_t candidate) {
        if (candidate != last || world.lesson().must_meet()) in_a_row = 0;
        return candidate == 1 ? (in_a_row < 3 ? 12 : 0.1) : 10.0;
      });
      in_a_row = who == last ? in_a_row + 1 : 1;
      last = who;
    }
    EXPECT_EQ(world.lesson().verdict(), calls == Lesson::Calls::apart ? 0U : 1U);
  }
}

TEST(Lesson, RanksMeetBeforeCallsThatOverlapAreTimed) {
  const auto met = [](Lesson::Calls calls) {
    World world(2, {10, 4}, 0, 0.02, {}, calls);
    std::vector<int> numbers;
    for (int i = 0; i < 18; ++i) {
      world.call(of({10, 4}));
      if (world.met()) numbers.push_back(i);
    }
    return numbers;
  };
  // A first call; then of each candidate one that is not timed, and two parts that are.
  EXPECT_EQ(met(Lesson::Calls::apart), (std::vector<int>{}));
  EXPECT_EQ(met(Lesson::Calls::overlapping), (std::vector{2, 11}));
}

// As the program makes them, calls take a twentieth of what they take after ranks have met.
TEST(Lesson, RanksMeetOnlyWhereTheirCallsTakeLong) {
  World world(2, {10, 4}, 0, 0.02, {}, Lesson::Calls::overlapping);
  world.pay_from(100, 50, 100);
  int calls = 0;
  while (world.lesson().agreements() == 0 && calls < 100000) {
    world.call(of({10, 4}));
    ++calls;
  }
  EXPECT_GE(calls, 9900);  // 10,000 calls of half a second are fifty rounds of a hundred
  EXPECT_LT(calls, 10100);
  EXPECT_EQ(world.lesson().verdict(), 1U);
}

// What a round has cost is known after it, and the next is taken to cost as much.
TEST(Lesson, RanksThatAreFarApartMeetSeldom) {
  std::int64_t agreements = 0;
  for (const double apart : {1e-2, 0.0}) {
    World world(2, {1e-5, 4e-6}, 0, 0.02, {}, Lesson::Calls::overlapping);
    world.pay_from(100, 1e-3, 1e-4);
    world.meet_in(apart);
    for (int i = 0; i < 400000; ++i) world.call(of({1e-5, 4e-6}));
    EXPECT_GT(world.lesson().agreements(), std::max<std::int64_t>(1, 3 * agreements));
    agreements = world.lesson().agreements();
  }
}

// In the first round one rank is late by a second, as a program may be that reads a file.
TEST(Lesson, ARankThatIsLateOnceDoesNotEndTrials) {
  World world(2, {1e-5, 4e-6}, 0, 0.02, {}, Lesson::Calls::overlapping);
  world.pay_from(100, 1e-3, 1e-4);
  world.meet_in(1);
  for (int i = 0; i < 400000; ++i) {
    world.call(of({1e-5, 4e-6}));
    if (world.lesson().agreements() > 0) world.meet_in(0);
  }
  EXPECT_GT(world.lesson().agreements(), 10);
  EXPECT_EQ(world.lesson().verdict(), 1U);
}

// What a round has cost more or less than was paid for it is paid later, or comes back; others pay for their own.
TEST(Credit, BooksWhatRoundsHaveCost) {
  Credit credit(100000, 1, 1e-3, 0.02);  // 20 ms in all
  EXPECT_EQ(credit.pay(true), 1e-3);
  EXPECT_EQ(credit.pay(false), 1e-3);
  EXPECT_EQ(credit.has_cost(1e-3, 3e-3), 3e-3);
  EXPECT_EQ(credit.pay(true), 3e-3);
  EXPECT_EQ(credit.has_cost(3e-3, 1), 12e-3);
  EXPECT_EQ(credit.pay(false), 1e-3);
  EXPECT_FALSE(credit.pay(true));
  EXPECT_EQ(credit.has_cost(1e-3, 1e-6), 1e-3);
}

// Trials say that candidate 1 is faster, and the program's own calls, in which nobody waits, that it isn't.
TEST(Lesson, TheProgramsOwnCallsCountMoreThanTrials) {
  for (const double own : {0.5, 10.0}) {
    World world(2, {10, 4}, 0, 0.02, {}, Lesson::Calls::overlapping);
    int replaced = 0;
    for (int i = 0; i < 20000; ++i) {
      const bool trial = world.lesson().on_trial();
      replaced += world.call(of({trial ? 10.0 : own, 4.0})) == 1 ? 1 : 0;
    }
    EXPECT_EQ(world.lesson().verdict(), own < 4 ? 0U : 1U);
    if (own < 4) {
      EXPECT_LT(replaced, 3000);
    }
  }
}

// In trials half as long as the MPI's own, in the program longer.
TEST(Lesson, WhatTheProgramFindsSlowerIsGivenUp) {
  World world(2, {10, 4}, 0, 0.02, {}, Lesson::Calls::overlapping);
  int replaced = 0;
  for (int i = 0; i < 20000; ++i) {
    const bool trial = world.lesson().on_trial();
    replaced += world.call(of({trial ? 10.0 : 8.0, trial ? 4.0 : 12.0})) == 1 ? 1 : 0;
  }
  EXPECT_EQ(world.lesson().verdict(), 0U);
  EXPECT_LT(replaced, 3000);
}

TEST(Lesson, TheMpisOwnIsSampledBeforeAnythingElseRuns) {
  World world(2, {10, 4}, 1, 0.02, {}, Lesson::Calls::overlapping);
  world.pay_from(100, 1e-3, 1e-6);
  for (int i = 0; i < 33; ++i) EXPECT_EQ(world.call(of({1e-5, 4e-6})), 0U);
  for (int i = 0; i < 100; ++i) world.call(of({1e-5, 4e-6}));
  EXPECT_EQ(world.lesson().verdict(), 1U);
}

// Noise must not bring agreements after every few calls.
TEST(Lesson, AgreesSeldomInNoise) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(1, 10);
  World world(4, {3, 2, 1, 2}, 0);
  for (int i = 0; i < 10000; ++i) world.call([&](std::size_t, std::size_t) { return any(random); });
  EXPECT_LT(world.lesson().agreements(), 150);
}

// A candidate as fast as the MPI's own is the faster one in every other round.
TEST(Lesson, TheVerdictDoesNotGoToAndFroInNoise) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(1.0, 1.25);
  World world(2, {1e-6, 1e-6}, 0, 0.5);
  int changes = 0;
  std::size_t last = 0;
  for (int i = 0; i < 200000; ++i) {
    world.call([&](std::size_t, std::size_t) { return 1e-6 * noise(random); });
    if (std::exchange(last, world.lesson().verdict()) != world.lesson().verdict()) ++changes;
  }
  EXPECT_LE(changes, 12);
}

}  // namespace
}  // namespace quadrille::learn
