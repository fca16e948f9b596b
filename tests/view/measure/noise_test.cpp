#include "measure/noise.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace quadrille::measure {
namespace {

// Repeats with a deviation of 2 %, the same for all variants, as in rounds.
Point sampled(const std::string& variant, double seconds, const std::string& same_as = "", std::int64_t bytes = 8) {
  Point made;
  made.collective = "allreduce";
  made.bytes = bytes;
  made.variant = variant;
  made.same_as = same_as;
  for (int i = 0; i < 20; ++i) made.seconds.push_back(seconds * (1 + 0.01 * (i % 5 - 2)));
  return made;
}

TEST(Noise, IsADifferenceOfWhatIsTheSame) {
  const std::vector<Point> points = {sampled("native", 1), sampled("ring", 0.8), sampled("pairwise", 1, "ring")};
  const std::vector<Discrepancy> found = Noise(points).discrepancies();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].variant, "pairwise");
  EXPECT_EQ(found[0].same_as, "ring");
  EXPECT_NEAR(found[0].size(), 0.25, 1e-9);
  EXPECT_NEAR(Noise(points).at("allreduce", 8), 0.25, 1e-9);
  ASSERT_EQ(warnings({}, points).size(), 1U);
  EXPECT_EQ(warnings({}, points)[0],
            "the figures are noisy: pairwise of allreduce, 8 B takes 1.25 (1.25 to 1.25) times as long as ring, which "
            "is the same schedule");
}

TEST(Noise, IsTheSameWhicheverIsFaster) {
  const std::vector<Point> points = {sampled("native", 1), sampled("ring", 1), sampled("pairwise", 0.8, "ring")};
  EXPECT_NEAR(Noise(points).at("allreduce", 8), 0.25, 1e-9);
}

TEST(Noise, ASmallOrInsignificantDifferenceIsNone) {
  std::vector<Point> points = {sampled("native", 1), sampled("ring", 0.8), sampled("pairwise", 0.82, "ring")};
  EXPECT_EQ(Noise(points).at("allreduce", 8), 0);
  points[2] = sampled("pairwise", 1, "ring");
  for (std::size_t i = 0; i < 9; ++i) points[2].seconds[i] = 0.5;
  EXPECT_EQ(Noise(points).at("allreduce", 8), 0);
  EXPECT_TRUE(warnings({}, points).empty());
}

TEST(Noise, AControlShowsItToo) {
  const std::vector<Point> points = {sampled("native", 1), sampled("control", 1.1), sampled("delayed", 1.3)};
  ASSERT_EQ(Noise(points).discrepancies().size(), 1U);
  EXPECT_NE(warnings({}, points)[0].find("which is the same call"), std::string::npos);
}

TEST(Noise, WhereACellCannotTellTheWorstOneCounts) {
  std::vector<Point> points = {sampled("native", 1), sampled("ring", 0.8), sampled("pairwise", 1, "ring")};
  points.push_back(sampled("native", 1, "", 64));
  EXPECT_NEAR(Noise(points).at("allreduce", 64), 0.25, 1e-9);
  points.push_back(sampled("control", 1, "", 64));
  EXPECT_EQ(Noise(points).at("allreduce", 64), 0);
}

TEST(Noise, OfTheSameTheSlowestIsBelieved) {
  std::vector<Point> points = {sampled("native", 1), sampled("ring", 0.8), sampled("pairwise", 1, "ring"),
                               sampled("rabenseifner", 2)};
  summarise(points);
  EXPECT_EQ(cautious(points, points[1]).variant, "pairwise");
  EXPECT_EQ(cautious(points, points[3]).variant, "rabenseifner");
}

// What ranks on one machine saw: the seconds that it worked, and each of them.
std::vector<RankLoad> seen(double busy, const std::vector<double>& own, std::uint64_t machine = 1) {
  std::vector<RankLoad> all;
  for (double one : own) {
    all.push_back({.machine = machine, .processors = 2, .busy = busy, .own = one});
  }
  return all;
}

TEST(Noise, OthersAreWhatTheRanksDidNotDo) {
  const MachineLoad quiet = load_between(seen(100, {1, 1}), seen(120.1, {11, 11}), 10);
  EXPECT_NEAR(quiet.others, 0.01, 1e-9);
  EXPECT_FALSE(quiet.disturbs());
  EXPECT_TRUE(warnings(quiet, {}).empty());
  const MachineLoad busy = load_between(seen(100, {1, 1}), seen(120, {8, 6}), 10);
  EXPECT_NEAR(busy.others, 0.8, 1e-9);
  EXPECT_TRUE(busy.disturbs());
  EXPECT_EQ(warnings(busy, {}), (std::vector<std::string>{"the machine is busy: other processes used 0.8 of its 2 "
                                                          "processors beside 2 ranks"}));
}

TEST(Noise, OthersMayHaveProcessorsThatNoRankNeeds) {
  EXPECT_FALSE(load_between(seen(0, {0}), seen(19, {10}), 10).disturbs());
  // With more ranks than processors there are none.
  EXPECT_TRUE(load_between(seen(0, {0, 0, 0}), seen(20, {5, 5, 5}), 10).disturbs());
}

TEST(Noise, TheWorstOfSeveralMachinesCounts) {
  std::vector<RankLoad> before = seen(0, {0, 0}, 1);
  std::vector<RankLoad> after = seen(20, {10, 10}, 1);
  const std::vector<RankLoad> other = seen(20, {5, 5}, 7);
  before.insert(before.end(), 2, {.machine = 7, .processors = 2});
  after.insert(after.end(), other.begin(), other.end());
  EXPECT_NEAR(load_between(before, after, 10).others, 1, 1e-9);
}

}  // namespace
}  // namespace quadrille::measure
