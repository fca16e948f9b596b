#include "measure/clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace quadrille::measure {
namespace {

// Two clocks and the network between them. True time is the reference's, from its start.
class Pair {
 public:
  Pair(double offset, double drift, unsigned seed) : offset_(offset), drift_(drift), random_(seed) {}

  double local(double now) const { return offset_ + now * (1 + drift_); }

  // A burst of exchanges from `now` on: 4 us of latency in each direction, and queueing, much longer in one of them.
  void burst(Clock& clock, double now, int exchanges = 100) {
    for (int i = 0; i < exchanges; ++i) {
      const double before = now;
      const double answered = before + way + queue(20e-6);
      const double after = answered + way + queue(3e-6);
      clock.add({local(before), answered, local(after)});
      now = after + 5e-6;
    }
    clock.settle();
  }

  double error(const Clock& clock, double now) const {
    const double forth = std::abs(clock.to_reference(local(now)) - now);
    const double back = std::abs(clock.from_reference(now) - local(now));
    return std::max(forth, back);
  }

 private:
  static constexpr double way = 4e-6;
  double queue(double mean) { return std::exponential_distribution<double>(1 / mean)(random_); }

  double offset_;
  double drift_;
  std::mt19937 random_;
};

TEST(Clock, WithoutSamplesIsTheReference) {
  Clock clock;
  clock.settle();
  EXPECT_FALSE(clock.settled());
  EXPECT_EQ(clock.to_reference(12.5), 12.5);
  EXPECT_EQ(clock.from_reference(12.5), 12.5);
}

TEST(Clock, OneBurstGivesTheOffset) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Pair pair(-3 * 3600, 0, seed);
    Clock clock;
    pair.burst(clock, 100);
    EXPECT_LE(pair.error(clock, 100), 2e-6) << seed;
    EXPECT_GE(clock.uncertainty(), 3e-6) << "the latency limits the precision";
    EXPECT_LE(clock.uncertainty(), 8e-6) << seed;
  }
}

TEST(Clock, BurstsDetermineTheDriftForTenSeconds) {
  for (double drift : {-100e-6, -3e-6, 0.0, 40e-6, 100e-6}) {
    for (unsigned seed = 0; seed < 30; ++seed) {
      Pair pair(5 * 3600, drift, seed);
      Clock clock;
      for (double now = 0; now <= 2; now += 0.25) pair.burst(clock, 1000 + now);
      EXPECT_LE(pair.error(clock, 1001), 1e-6) << drift << ", seed " << seed;
      EXPECT_LE(pair.error(clock, 1012), 6e-6) << drift << ", seed " << seed;
    }
  }
}

TEST(Clock, TheErrorIsSmallBetweenBursts) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Pair pair(7200, 100e-6, seed);
    Clock clock;
    pair.burst(clock, 50);
    pair.burst(clock, 350);
    for (double now : {50.0, 120.0, 200.0, 300.0, 350.0}) EXPECT_LE(pair.error(clock, now), 2e-6) << now;
    EXPECT_NEAR(clock.drift(), 1 / (1 + 100e-6) - 1, 1e-8);
  }
}

TEST(Clock, BurstsTooCloseTogetherGiveNoSpuriousDrift) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Pair pair(3600, 0, seed);
    Clock clock;
    pair.burst(clock, 10, 20);
    pair.burst(clock, 10.002, 20);
    EXPECT_LE(std::abs(clock.drift()), 150e-6) << seed;
    EXPECT_LE(pair.error(clock, 10.1), 20e-6) << seed;
  }
}

TEST(Clock, OneBadBurstDoesNotBendTheLine) {
  Pair pair(3600, 20e-6, 1);
  Clock clock;
  pair.burst(clock, 10);
  pair.burst(clock, 11);
  const double now = 12;  // a single exchange that was held up by a millisecond on its way there
  clock.add({pair.local(now), now + 1e-3, pair.local(now + 1e-3 + 5e-6)});
  clock.settle();
  pair.burst(clock, 13);
  EXPECT_LE(pair.error(clock, 12), 3e-6);
  EXPECT_GE(clock.uncertainty(), 400e-6) << "but it is reported";
}

TEST(Clock, ForgetsOldBursts) {
  Pair pair(3600, 0, 1);
  Clock clock;
  for (double now = 0; now < 100; now += 10) pair.burst(clock, now);
  // As if the local clock had been set back and its drift had changed.
  Pair changed(3600 - 0.01, 100e-6, 2);
  for (double now = 100; now < 180; now += 10) changed.burst(clock, now);
  EXPECT_LE(changed.error(clock, 180), 5e-6);
  EXPECT_LE(clock.uncertainty(), 20e-6);
}

TEST(Clock, ConversionsAreInverse) {
  Pair pair(3600, 80e-6, 3);
  Clock clock;
  pair.burst(clock, 10);
  pair.burst(clock, 20);
  for (double local : {3600.0, 3625.5, 4000.0}) {
    EXPECT_NEAR(clock.from_reference(clock.to_reference(local)), local, 1e-11);
  }
}

TEST(Clock, AReplyBeforeItsRequestIsRejected) {
  Clock clock;
  EXPECT_THROW(clock.add({2, 1, 1}), std::invalid_argument);
  EXPECT_THROW(clock.add({1, NAN, 2}), std::invalid_argument);
}

}  // namespace
}  // namespace quadrille::measure
