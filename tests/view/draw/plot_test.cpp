#include "draw/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "draw/count.hpp"
#include "draw/scale.hpp"
#include "draw/stroke.hpp"
#include "draw/xml.hpp"

namespace quadrille::draw {
namespace {

Series series(const std::string& name, double start, int sizes = 12) {
  Series made{.name = name, .points = {}};
  for (int i = 0; i < sizes; ++i) {
    const double seconds = start + std::exp2(2 * i) * 1e-9;
    made.points.push_back({8 * std::exp2(2 * i), seconds, 0.9 * seconds, 1.2 * seconds});
  }
  return made;
}

Plot sample() {
  Series reference = series("native", 2e-6);
  reference.style = SeriesStyle::reference;
  Series floor = series("floor", 1e-6);
  floor.style = SeriesStyle::floor;
  return {.heading = "allreduce <1>",
          .subheading = "Open MPI & others",
          .x = {"size", Quantity::bytes},
          .y = {"time", Quantity::seconds},
          .panels = {{"", {reference, series("ring", 1e-6), floor}}}};
}

TEST(Plot, IsWellFormedAndSelfContained) {
  const std::string text = plot(sample());
  EXPECT_EQ(XmlCheck::fault(text), "");
  EXPECT_TRUE(text.starts_with("<svg xmlns="));
  EXPECT_EQ(count(text, "http"), 1U) << "nothing outside but the name of the format";
  EXPECT_EQ(plot(sample()), text);
}

TEST(Plot, HasAllTexts) {
  const std::string text = plot(sample());
  for (const char* label : {">allreduce &lt;1&gt;<", ">Open MPI &amp; others<", ">native<", ">ring<", ">floor<",
                            ">size<", ">time<", ">8 B<", ">32 KiB<", ">1 µs<", ">1 ms<"}) {
    EXPECT_NE(text.find(label), std::string::npos) << label;
  }
}

TEST(Plot, PanelsBesideHaveAnAxisOfTheirOwn) {
  Plot both = sample();
  both.panels.push_back({"second", {series("ring", 1e-6)}});
  both.panels[0].title = "first";
  Series ratios = series("ring", 1);
  for (PlotPoint& point : ratios.points) point = {point.x, 0.5, 0.4, 2};
  both.beside = {{"", {ratios}}, {"", {}}};
  both.beside_y = {"relative", Quantity::ratio};
  const std::string text = plot(both);
  EXPECT_EQ(XmlCheck::fault(text), "");
  for (const char* label : {">time<", ">relative<", ">first<", ">second<", ">1 µs<", ">1<", ">2<"}) {
    EXPECT_NE(text.find(label), std::string::npos) << label;
  }
  EXPECT_EQ(count(text, "class=\"series\""), 5U);
  EXPECT_EQ(count(text, ">8 B<"), 2U) << "below each column";
}

TEST(Plot, HasALinePerSeriesAndAMarkerAndAnErrorBarPerPoint) {
  const std::string text = plot(sample());
  EXPECT_EQ(count(text, "class=\"series\""), 3U);
  EXPECT_EQ(count(text, "class=\"marker\""), 2U * 12 + 2) << "and one each in the legend; the floor has none";
  EXPECT_EQ(count(text, "class=\"error\""), 3U * 3 * 12);
}

TEST(Plot, AFloorFarBelowDoesNotStretchTheAxis) {
  Plot low = sample();
  for (PlotPoint& point : low.panels[0].series[2].points) point.y *= 1e-6;
  EXPECT_EQ(plot(low).find(">1 ns<"), std::string::npos);
  low.panels[0].series.erase(low.panels[0].series.begin(), low.panels[0].series.begin() + 2);
  EXPECT_NE(plot(low).find(">1 ns<"), std::string::npos) << "without other series it is shown";
}

TEST(Plot, ANearbyFloorIsShown) {
  Plot drawn{.heading = "", .subheading = "", .y = {"time", Quantity::seconds}, .panels = {{"", {}}}};
  drawn.panels[0].series = {{"ring", {{1, 0.27}, {100, 3.3}}}};
  EXPECT_EQ(plot(drawn).find(">200 ms<"), std::string::npos);
  drawn.panels[0].series.push_back({.name = "floor", .points = {{1, 0.21}, {100, 0.21}}, .style = SeriesStyle::floor});
  EXPECT_NE(plot(drawn).find(">200 ms<"), std::string::npos);
}

TEST(Plot, PanelsShareTheLegend) {
  Plot several = sample();
  several.panels.push_back({"bcast", several.panels[0].series});
  several.panels.push_back({"barrier", {{"ring", {{0, 1e-5}}}}});
  const std::string text = plot(several);
  EXPECT_EQ(XmlCheck::fault(text), "");
  EXPECT_EQ(count(text, ">ring<"), 1U);
  EXPECT_EQ(count(text, ">bcast<"), 1U);
  EXPECT_EQ(count(text, ">0 B<"), 2U) << "below the lowest panel of each column";
}

TEST(Plot, ASinglePointIsEnough) {
  const std::string text = plot({.heading = "", .subheading = "", .panels = {{"", {{"ring", {{0, 3e-6}}}}}}});
  EXPECT_EQ(XmlCheck::fault(text), "");
  EXPECT_NE(text.find(">0 B<"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
}

TEST(Plot, InvalidPlotsAreRejected) {
  EXPECT_THROW(plot({}), std::invalid_argument);
  for (double y : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(plot({.heading = "", .subheading = "", .panels = {{"", {{"ring", {{8, y}}}}}}}),
                 std::invalid_argument);
  }
  EXPECT_THROW(plot({.heading = "", .subheading = "", .panels = {{"", {{"ring", {{-8, 1}}}}}}}), std::invalid_argument);
}

TEST(Strokes, AFamilySharesItsColourAndNoTwoOthersShareBothColourAndMarker) {
  Panel panel;
  for (int i = 0; i < 20; ++i) panel.series.push_back(series("series " + std::to_string(i), 1e-6));
  panel.series.push_back(panel.series[0]);
  panel.series.back().name = "later";
  panel.series.back().family = "series 0";
  panel.series.back().variation = 1;
  const Strokes strokes({panel});
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Stroke a = strokes.of(panel.series[i]);
      const Stroke b = strokes.of(panel.series[j]);
      EXPECT_FALSE(a.colour == b.colour && a.marker == b.marker) << i << " and " << j;
    }
  }
  const Stroke first = strokes.of(panel.series[0]);
  const Stroke later = strokes.of(panel.series.back());
  EXPECT_EQ(first.colour, later.colour);
  EXPECT_EQ(first.marker, later.marker);
  EXPECT_NE(first.dashes, later.dashes);
}

TEST(Scale, TicksDoNotOverlap) {
  for (double low : {1e-9, 3.3e-7, 1e-5, 2.0}) {
    for (double range : {1.0, 1.5, 10.0, 40.0, 1e3, 1e9}) {
      Scale scale({low, low * range});
      scale.place(200, 0);
      const std::vector<Tick> ticks = scale.ticks(Quantity::seconds, false, 15, 6);
      ASSERT_GE(ticks.size(), 2U) << low << " to " << low * range;
      for (std::size_t i = 1; i < ticks.size(); ++i) {
        EXPECT_GE(scale.at(ticks[i - 1].value) - scale.at(ticks[i].value), 15 + 6) << low << " to " << low * range;
      }
    }
  }
}

TEST(Scale, FewSizesAreTheirOwnTicks) {
  Scale scale({8, 1000, 65536, 0});
  scale.place(0, 600);
  std::vector<std::string> labels;
  for (const Tick& tick : scale.ticks(Quantity::bytes, true, 15, 12)) labels.push_back(tick.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"0 B", "8 B", "1000 B", "64 KiB"}));
}

TEST(Scale, TheLastValueHasATickIfThereIsSpace) {
  Scale scale({1, 2, 5, 10, 12, 100});
  scale.place(0, 330);
  std::vector<std::string> labels;
  for (const Tick& tick : scale.ticks(Quantity::number, true, 15, 12)) labels.push_back(tick.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"1", "5", "12", "100"}));
}

TEST(Scale, ManySizesHaveATickEveryFew) {
  std::vector<double> sizes;
  for (int power = 0; power <= 24; ++power) sizes.push_back(std::exp2(power));
  Scale scale(sizes);
  scale.place(0, 640);
  std::vector<std::string> labels;
  for (const Tick& tick : scale.ticks(Quantity::bytes, true, 15, 12)) labels.push_back(tick.label);
  EXPECT_EQ(labels,
            (std::vector<std::string>{"1 B", "8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB", "16 MiB"}));
}

}  // namespace
}  // namespace quadrille::draw
