#include "measure/plot.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace quadrille::measure {
namespace {

// Native takes 1 ms for 1000 bytes, ours half of that; a barrier takes 2 ms.
NamedReport report_of(int ranks) {
  Report report;
  report.provenance.mpi = "Some MPI";
  report.provenance.ranks = ranks;
  const auto point = [](const char* collective, std::int64_t bytes, const char* variant, double seconds) {
    Point one;
    one.collective = collective;
    one.bytes = bytes;
    one.variant = variant;
    one.seconds.assign(least_for_interval, seconds);
    one.time = {.middle = seconds, .low = seconds / 2, .high = seconds * 4};
    return one;
  };
  report.points = {point("barrier", 0, "native", 2e-3), point("bcast", 1000, "native", 1e-3),
                   point("bcast", 1000, "ours", 5e-4)};
  return {"report of " + std::to_string(ranks), report};
}

TEST(Plot, HasAPanelForEachCollective) {
  const draw::Plot plot = plot_of({report_of(4)}, {});
  ASSERT_EQ(plot.panels.size(), 2U);
  EXPECT_EQ(plot.panels[1].title, "bcast");
  ASSERT_EQ(plot.panels[1].series.size(), 2U);
  const draw::Series& native = plot.panels[1].series[0];
  EXPECT_EQ(native.style, draw::SeriesStyle::reference);
  EXPECT_EQ(native.points[0].x, 1000);
  EXPECT_EQ(native.points[0].y, 1e-3);
}

TEST(Plot, AnInterruptedRunIsMarked) {
  NamedReport named = report_of(4);
  EXPECT_EQ(plot_of({named}, {}).subheading, "Some MPI, 4 ranks on 0 nodes");
  named.report.complete = false;
  EXPECT_EQ(plot_of({named}, {}).subheading, "Some MPI, 4 ranks on 0 nodes, interrupted");
}

TEST(Plot, RatesAreSizesDividedByTimesWithInvertedIntervals) {
  const draw::Plot plot = plot_of({report_of(4)}, {.value = PlotOptions::Value::rates});
  ASSERT_EQ(plot.panels.size(), 1U);  // a barrier has none
  const draw::PlotPoint& point = plot.panels[0].series[0].points[0];
  EXPECT_DOUBLE_EQ(point.y, 1e6);
  EXPECT_DOUBLE_EQ(*point.low, 2.5e5);
  EXPECT_DOUBLE_EQ(*point.high, 2e6);
  EXPECT_THROW(plot_of({report_of(4)}, {.value = PlotOptions::Value::rates, .collectives = {"barrier"}}),
               std::invalid_argument);
}

TEST(Plot, RatiosAreToTheMpisOwnCallOfTheSameRound) {
  NamedReport named = report_of(4);
  EXPECT_THROW(plot_of({named}, {.value = PlotOptions::Value::ratios, .collectives = {"scan"}}), std::invalid_argument);
  summarise(named.report.points);
  const draw::Plot plot = plot_of({named}, {.value = PlotOptions::Value::ratios, .collectives = {"bcast"}});
  ASSERT_EQ(plot.panels.size(), 1U);
  ASSERT_EQ(plot.panels[0].series.size(), 2U);
  EXPECT_EQ(plot.panels[0].series[0].style, draw::SeriesStyle::reference);
  EXPECT_DOUBLE_EQ(plot.panels[0].series[0].points[0].y, 1);
  EXPECT_DOUBLE_EQ(plot.panels[0].series[1].points[0].y, 0.5);
  EXPECT_EQ(plot.y.unit, draw::Quantity::ratio);
}

TEST(Plot, RatiosAreBesideTheTimesOfTheirPanels) {
  NamedReport named = report_of(4);
  const PlotOptions view{.value = PlotOptions::Value::times_and_ratios};
  EXPECT_TRUE(plot_of({named}, view).beside.empty());
  summarise(named.report.points);
  named.report.points.insert(named.report.points.begin(), named.report.points[2]);
  named.report.points[0].collective = "scan";  // without native
  named.report.points[0].ratio.reset();
  const draw::Plot plot = plot_of({named}, view);
  ASSERT_EQ(plot.panels.size(), 3U);
  ASSERT_EQ(plot.beside.size(), 3U);
  EXPECT_EQ(plot.panels[0].title, "scan");
  EXPECT_TRUE(plot.beside[0].series.empty());
  EXPECT_EQ(plot.panels[2].title, "bcast");
  ASSERT_EQ(plot.beside[2].series.size(), 2U);
  EXPECT_DOUBLE_EQ(plot.beside[2].series[1].points[0].y, 0.5);
  EXPECT_DOUBLE_EQ(plot.panels[2].series[1].points[0].y, 5e-4);
  EXPECT_EQ(plot.beside_y.unit, draw::Quantity::ratio);
}

TEST(Plot, AgainstRanksEachReportIsOnePointOfEveryLine) {
  const PlotOptions view{.against = PlotOptions::Against::ranks};
  const draw::Plot plot = plot_of({report_of(8), report_of(2)}, view);
  ASSERT_EQ(plot.panels.size(), 2U);
  EXPECT_EQ(plot.panels[0].title, "barrier");
  EXPECT_EQ(plot.panels[1].title, "bcast, 1000 B");
  ASSERT_EQ(plot.panels[1].series.size(), 2U);
  const draw::Series& ours = plot.panels[1].series[1];
  EXPECT_EQ(ours.name, "ours");
  ASSERT_EQ(ours.points.size(), 2U);
  EXPECT_EQ(ours.points[0].x, 2);
  EXPECT_EQ(ours.points[1].x, 8);
  EXPECT_EQ(plot.subheading, "Some MPI, 2 to 8 ranks");
  EXPECT_THROW(plot_of({report_of(8), report_of(8)}, view), std::invalid_argument);
}

}  // namespace
}  // namespace quadrille::measure
