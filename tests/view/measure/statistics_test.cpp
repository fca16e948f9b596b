#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace quadrille::measure {
namespace {

using Draw = std::function<double(std::mt19937&)>;

std::vector<double> drawn(const Draw& draw, std::size_t count, std::mt19937& random) {
  std::vector<double> samples(count);
  for (double& sample : samples) sample = draw(random);
  return samples;
}

double normal(std::mt19937& random) {
  return std::normal_distribution<double>()(random);
}

// The fraction of trials in which the check holds.
double share(int trials, const std::function<bool(std::mt19937&)>& check) {
  std::mt19937 random(20240229);
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) held += check(random) ? 1 : 0;
  return static_cast<double>(held) / trials;
}

TEST(MedianInterval, IsBetweenTheOrderStatisticsOfTheTextbook) {
  std::vector<double> samples;
  for (int i = 10; i >= 1; --i) samples.push_back(i);
  const Interval interval = median_interval(samples);
  EXPECT_EQ(interval.middle, 5.5);
  EXPECT_EQ(interval.low, 2);  // a confidence of 97.9 %; from 3 to 8 it would be 89.1 %
  EXPECT_EQ(interval.high, 9);
  EXPECT_DOUBLE_EQ(interval.half_width(), 3.5 / 5.5);
}

TEST(MedianInterval, OfFewSamplesIsTheirRange) {
  const Interval one = median_interval(std::vector<double>{3});
  EXPECT_EQ(one.low, 3);
  EXPECT_EQ(one.high, 3);
  const Interval few = median_interval(std::vector<double>{5, 1, 2, 4, 3});
  EXPECT_EQ(few.middle, 3);
  EXPECT_EQ(few.low, 1);
  EXPECT_EQ(few.high, 5);
}

TEST(MedianInterval, RejectsInvalidArguments) {
  EXPECT_THROW(median_interval({}), std::invalid_argument);
  EXPECT_THROW(median_interval(std::vector<double>{1}, 1), std::invalid_argument);
  EXPECT_THROW(median_interval(std::vector<double>{1}, 0), std::invalid_argument);
}

TEST(MedianInterval, OfManySamplesApproachesTheNormalApproximation) {
  for (double confidence : {0.8, 0.95, 0.999}) {
    double before = 0;
    for (std::size_t count = 496; count <= 506; ++count) {
      std::vector<double> samples(count);
      for (std::size_t i = 0; i < count; ++i) samples[i] = static_cast<double>(i);
      const Interval interval = median_interval(samples, confidence);
      const double outside = interval.low;  // as many are cut off
      EXPECT_EQ(interval.high, static_cast<double>(count - 1) - outside);
      if (before > 0) {
        EXPECT_GE(outside, before) << count;
        EXPECT_LE(outside, before + 1) << count;
      }
      before = outside;
    }
  }
}

TEST(MedianInterval, CoversTheMedianWithTheStatedConfidence) {
  const std::vector<std::pair<Draw, double>> distributions = {
      {[](std::mt19937& random) { return std::exponential_distribution<double>()(random); }, std::log(2.0)},
      {[](std::mt19937& random) { return std::exp(normal(random)); }, 1.0}};
  for (const auto& distribution : distributions) {
    for (std::size_t count : {6, 10, 30, 101}) {
      const double covered = share(2000, [&](std::mt19937& random) {
        return median_interval(drawn(distribution.first, count, random)).contains(distribution.second);
      });
      EXPECT_GE(covered, 0.93) << count;
      EXPECT_LE(covered, 0.99) << count;
    }
  }
}

TEST(RatioInterval, OfEqualVariantsContainsOneOnADriftingMachine) {
  const double covered = share(2000, [](std::mt19937& random) {
    std::vector<double> a;
    std::vector<double> b;
    double load = 1;
    for (int round = 0; round < 20; ++round) {
      load *= std::exp(0.2 * normal(random));
      a.push_back(load * std::exp(0.05 * normal(random)));
      b.push_back(load * std::exp(0.05 * normal(random)));
    }
    return ratio_interval(a, b).contains(1);
  });
  EXPECT_GE(covered, 0.93);
}

TEST(RatioInterval, PairsSamplesOfTheSameRound) {
  const Interval ratio = ratio_interval(std::vector<double>{2, 20, 200}, std::vector<double>{1, 10, 100});
  EXPECT_EQ(ratio.low, 2);
  EXPECT_EQ(ratio.middle, 2);
  EXPECT_EQ(ratio.high, 2);
  EXPECT_THROW(ratio_interval(std::vector<double>{1}, std::vector<double>{1, 2}), std::invalid_argument);
}

TEST(RankSum, AgreesWithCountedPairs) {
  // Expected values were computed independently, from the number of pairs in which the first is greater; without ties
  // by enumerating all 12870 orders.
  const std::vector<double> a = {1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8};
  const std::vector<double> b = {5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_DOUBLE_EQ(rank_sum_p(a, b), 2 * 133.0 / 12870);
  EXPECT_DOUBLE_EQ(rank_sum_p(b, a), rank_sum_p(a, b));
  const std::vector<double> tied_a = {1, 2, 2, 3, 3, 3, 4, 4};
  const std::vector<double> tied_b = {3, 3, 4, 4, 5, 5, 6, 6, 6};
  EXPECT_NEAR(rank_sum_p(tied_a, tied_b), 0.009103432, 1e-6);
  EXPECT_DOUBLE_EQ(rank_sum_p(tied_b, tied_a), rank_sum_p(tied_a, tied_b));
}

TEST(RankSum, OfFewSamplesIsExact) {
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}), 2.0 / 20);
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector<double>{1, 2, 4}, std::vector<double>{3, 5, 6}), 4.0 / 20);
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector<double>{1}, std::vector<double>{2}), 1);
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector<double>{1, 4}, std::vector<double>{2, 3}), 1);
  std::vector<double> low(20);
  std::vector<double> high(20);
  for (std::size_t i = 0; i < 20; ++i) {
    low[i] = static_cast<double>(i);
    high[i] = static_cast<double>(i + 20);
  }
  EXPECT_DOUBLE_EQ(rank_sum_p(low, high), 2 / 137846528820.0);
}

TEST(RankSum, OfManySamplesApproachesTheNormalApproximation) {
  const auto shifted_p = [](std::size_t count) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t i = 0; i < count; ++i) {
      a.push_back(static_cast<double>(i));
      b.push_back(static_cast<double>(i) + 0.23 * static_cast<double>(count) + 0.01);
    }
    return rank_sum_p(a, b);
  };
  EXPECT_NEAR(shifted_p(20), shifted_p(21), 0.01);
}

TEST(RankSum, OfEmptyOrEqualSamplesIsOne) {
  EXPECT_EQ(rank_sum_p({}, std::vector<double>{1, 2}), 1);
  EXPECT_EQ(rank_sum_p({}, {}), 1);
  EXPECT_EQ(rank_sum_p(std::vector<double>{2, 2}, std::vector<double>{2, 2}), 1);
}

TEST(RankSum, HasTheStatedFalseAlarmRate) {
  const double alarms = share(4000, [](std::mt19937& random) {
    const auto lognormal = [](std::mt19937& from) { return std::exp(normal(from)); };
    return rank_sum_p(drawn(lognormal, 8, random), drawn(lognormal, 12, random)) <= 0.05;
  });
  EXPECT_GE(alarms, 0.03);
  EXPECT_LE(alarms, 0.06);
}

TEST(Significant, FollowsHolm) {
  // 0.01 <= 0.05 / 4, 0.015 <= 0.05 / 3, but 0.03 > 0.05 / 2 fails, and so do all larger ones.
  EXPECT_EQ(significant(std::vector<double>{0.03, 0.01, 0.04, 0.015}, 0.05),
            (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(significant({}, 0.05), std::vector<bool>{});
}

}  // namespace
}  // namespace quadrille::measure
