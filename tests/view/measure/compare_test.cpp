#include "measure/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace quadrille::measure {
namespace {

// Reports with noise of 5 % in each time.
class Machine {
 public:
  explicit Machine(unsigned seed) : random_(seed) {}

  Point point(std::int64_t bytes, const std::string& variant, double seconds, int repeats = 20) {
    Point made;
    made.collective = "allreduce";
    made.bytes = bytes;
    made.variant = variant;
    for (int i = 0; i < repeats; ++i) {
      made.seconds.push_back(seconds * std::exp(0.05 * std::normal_distribution<double>()(random_)));
    }
    return made;
  }

  // Sizes 1, 2, 4, ..., each with native and a ring.
  Report report(int sizes, double native_seconds, double ring_seconds) {
    Report made;
    for (int i = 0; i < sizes; ++i) {
      made.points.push_back(point(std::int64_t{1} << i, "native", native_seconds));
      made.points.push_back(point(std::int64_t{1} << i, "ring", ring_seconds));
    }
    summarise(made.points);
    return made;
  }

 private:
  std::mt19937 random_;
};

int count(const std::vector<Change>& changes, Verdict verdict) {
  return static_cast<int>(std::count_if(changes.begin(), changes.end(),
                                        [verdict](const Change& change) { return change.verdict == verdict; }));
}

TEST(Compare, ATenPercentSlowdownIsFound) {
  int found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Machine machine(seed);
    Report before;
    Report after;
    before.points = {machine.point(8, "ring", 1e-5, 30)};
    after.points = {machine.point(8, "ring", 1.1e-5, 30)};
    const std::vector<Change> changes = compare(before, after);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_FALSE(changes[0].by_ratio);
    found += changes[0].is_loss() ? 1 : 0;
  }
  EXPECT_GE(found, 98);
}

TEST(Compare, ASlowdownRelativeToNativeIsFoundOnAFasterMachine) {
  Machine machine(1);
  const std::vector<Change> changes = compare(machine.report(10, 1e-5, 1e-5), machine.report(10, 0.5e-5, 0.65e-5));
  for (const Change& change : changes) {
    EXPECT_EQ(change.by_ratio, change.variant == "ring");
    EXPECT_EQ(change.is_loss(), change.variant == "ring");
    EXPECT_EQ(change.verdict, change.variant == "ring" ? Verdict::slower : Verdict::faster);
    EXPECT_NEAR(change.factor, change.variant == "ring" ? 1.3 : 0.5, 0.1);
  }
}

TEST(Compare, ASlowerMachineIsNoRegression) {
  Machine machine(2);
  const std::vector<Change> changes = compare(machine.report(10, 1e-5, 2e-5), machine.report(10, 3e-5, 6e-5));
  EXPECT_TRUE(std::none_of(changes.begin(), changes.end(), [](const Change& change) { return change.is_loss(); }));
  EXPECT_EQ(count(changes, Verdict::slower), 10) << "native, which is shown";
}

TEST(Compare, NativeWithoutOthersIsComparedByItsTimes) {
  Machine machine(3);
  Report before;
  Report after;
  before.points = {machine.point(8, "native", 1e-5)};
  after.points = {machine.point(8, "native", 2e-5)};
  EXPECT_TRUE(compare(before, after).at(0).is_loss());
}

TEST(Compare, FortyEqualPointsGiveFewFalseAlarms) {
  int alarms = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Machine machine(seed);
    const CompareOptions any_size{.level = 0.05, .threshold = 0};
    const std::vector<Change> changes =
        compare(machine.report(20, 1e-5, 2e-5), machine.report(20, 1e-5, 2e-5), any_size);
    ASSERT_EQ(changes.size(), 40U);
    alarms += count(changes, Verdict::same) < 40 ? 1 : 0;
  }
  EXPECT_LE(alarms, 10);
}

TEST(Compare, SignificantButSmallChangesAreIgnored) {
  Machine machine(4);
  Report before;
  Report after;
  before.points = {machine.point(8, "ring", 1e-5, 5000)};
  after.points = {machine.point(8, "ring", 1.03e-5, 5000)};
  EXPECT_EQ(compare(before, after).at(0).verdict, Verdict::same);
  EXPECT_LT(compare(before, after).at(0).p, 1e-6);
  EXPECT_EQ(compare(before, after, {.level = 0.05, .threshold = 0.01}).at(0).verdict, Verdict::slower);
}

TEST(Compare, UnpairedRoundsAreComparedWithNativesMedian) {
  Machine machine(5);
  Report before;
  before.points = {machine.point(8, "native", 1e-5, 40), machine.point(8, "ring", 2e-5, 20)};
  const Change change = compare(before, before).at(1);
  EXPECT_TRUE(change.by_ratio);
  EXPECT_EQ(change.factor, 1);
  EXPECT_NEAR(change.before.value(), 2, 0.1);
}

TEST(Compare, PointsOfOnlyOneReportAreListed) {
  Machine machine(6);
  Report before;
  Report after;
  before.points = {machine.point(8, "ring", 1e-5), machine.point(16, "ring", 1e-5)};
  after.points = {machine.point(32, "ring", 1e-5), machine.point(16, "ring", 1e-5)};
  const std::vector<Change> changes = compare(before, after);
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].bytes, 16);
  EXPECT_EQ(changes[1].verdict, Verdict::only_before);
  EXPECT_EQ(changes[1].bytes, 8);
  EXPECT_FALSE(changes[1].after);
  EXPECT_EQ(changes[2].verdict, Verdict::only_after);
  EXPECT_EQ(changes[2].bytes, 32);
  EXPECT_FALSE(changes[2].before);
}

}  // namespace
}  // namespace quadrille::measure
