#include "measure/summary.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace quadrille::measure {
namespace {

using Ratios = std::vector<std::pair<std::string, double>>;

// A cell with these medians of ratios, give or take 2 %.
void add_cell(std::vector<Point>& points, const std::string& collective, std::int64_t bytes, const Ratios& ratios) {
  Ratios all = {{"native", 1}};
  all.insert(all.end(), ratios.begin(), ratios.end());
  for (const auto& [variant, ratio] : all) {
    Point point;
    point.collective = collective;
    point.bytes = bytes;
    point.variant = variant;
    point.seconds.assign(least_for_interval, ratio);
    point.time = {ratio, ratio, ratio};
    if (variant != native) point.ratio = Interval{ratio, 0.98 * ratio, 1.02 * ratio};
    points.push_back(std::move(point));
  }
}

TEST(Summary, NeighbouringSizesWithOneWinnerAreOneLine) {
  std::vector<Point> points;
  add_cell(points, "bcast", 4096, {{"binomial", 0.9}, {"binary", 0.5}});
  add_cell(points, "bcast", 8, {{"binomial", 0.4}, {"binary", 0.5}});
  add_cell(points, "bcast", 64, {{"binomial", 0.9}, {"binary", 2}});
  const std::vector<Winner> found = winners(points);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].variant, "binomial");
  EXPECT_EQ(found[0].from, 8);
  EXPECT_EQ(found[0].to, 64);
  EXPECT_DOUBLE_EQ(found[0].ratio.middle, 0.6);
  EXPECT_NEAR(found[0].ratio.high, 0.612, 1e-12);
  EXPECT_EQ(found[1].variant, "binary");
  EXPECT_EQ(found[1].sizes, 1);
}

TEST(Summary, NativeWinsWhereNobodyIsFasterBeyondDoubt) {
  std::vector<Point> points;
  add_cell(points, "bcast", 8, {{"binomial", 0.995}, {"binary", 1.5}});
  add_cell(points, "bcast", 64, {{"binomial", 1.2}});
  add_cell(points, "bcast", 512, {{"binomial", 0.5}});
  points.back().seconds.resize(least_for_interval - 1);
  const std::vector<Winner> found = winners(points);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].variant, "native");
  EXPECT_EQ(found[0].to, 512);
}

TEST(Summary, NativeMeasuredAgainDoesNotCompete) {
  std::vector<Point> points;
  add_cell(points, "bcast", 8, {{"control", 0.98}, {"delayed", 0.6}, {"binomial", 0.9}});
  add_cell(points, "scan", 8, {{"control", 0.98}});
  const std::vector<Winner> found = winners(points);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].variant, "binomial");
}

TEST(Summary, NobodyWinsByLessThanTheNoise) {
  std::vector<Point> points;
  add_cell(points, "bcast", 8, {{"control", 1.2}, {"binomial", 0.9}});
  EXPECT_EQ(winners(points)[0].variant, "native");
  points.clear();
  add_cell(points, "bcast", 8, {{"binomial", 0.6}, {"knomial", 0.58}});
  points.back().same_as = "binomial";
  EXPECT_EQ(winners(points)[0].variant, "binomial");
  EXPECT_DOUBLE_EQ(winners(points)[0].ratio.middle, 0.6);
}

TEST(Summary, DefaultCompetesOnlyAlone) {
  std::vector<Point> points;
  add_cell(points, "bcast", 8, {{"default", 0.5}, {"binomial", 0.51}});
  add_cell(points, "scan", 8, {{"default", 0.5}});
  const std::vector<Winner> found = winners(points);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].variant, "binomial");
  EXPECT_EQ(found[1].variant, "default");
}

TEST(Summary, DefaultHasAGeometricMean) {
  std::vector<Point> points;
  add_cell(points, "bcast", 8, {{"binomial", 0.5}});
  EXPECT_TRUE(default_means(points).empty());
  add_cell(points, "scan", 8, {{"default", 0.5}});
  add_cell(points, "scan", 64, {{"default", 2}});
  std::vector<DefaultMean> means = default_means(points);
  ASSERT_EQ(means.size(), 1U);
  EXPECT_DOUBLE_EQ(means[0].ratio, 1);
  EXPECT_EQ(means[0].sizes, 2);
  add_cell(points, "reduce", 64, {{"default", 8}});
  means = default_means(points);
  ASSERT_EQ(means.size(), 3U);
  EXPECT_EQ(means[2].collective, "");
  EXPECT_DOUBLE_EQ(means[2].ratio, 2);
}

TEST(Summary, SaysItInAFewLines) {
  std::vector<Point> points;
  add_cell(points, "barrier", 0, {{"tree", 1.5}});
  add_cell(points, "bcast", 8, {{"default", 0.5}, {"binomial", 0.5}});
  add_cell(points, "bcast", 64, {{"default", 0.5}, {"binomial", 0.5}});
  EXPECT_EQ(summary_text(points),
            "\n"
            "fastest\n"
            "  barrier                                    native               the best of the others takes 1.50 (1.47 "
            "to 1.53)\n"
            "  bcast                 8 B to 64 B          binomial             0.50 (0.49 to 0.51) of native's time\n"
            "\n"
            "default, geometric mean of its ratios to native\n"
            "  bcast                 2 sizes              0.50\n");
  EXPECT_EQ(summary_text({}), "");
}

}  // namespace
}  // namespace quadrille::measure
