#include "draw/heat_map.hpp"

#include <gtest/gtest.h>

#include "draw/count.hpp"
#include "draw/xml.hpp"

namespace quadrille::draw {
namespace {

HeatMap diagonal(int size) {
  HeatMap map{.title = {"a <map>", "& more"}, .size = size, .cells = {}};
  for (int i = 0; i < size; ++i) map.cells.push_back({i, (i + 1) % size, 1024.0 * (1 + i % 3)});
  return map;
}

TEST(HeatMap, IsWellFormedAndSelfContained) {
  for (const int size : {1, 2, 16, 128, 129, 1000}) {
    const std::string text = heat_map(diagonal(size));
    EXPECT_EQ(XmlCheck::fault(text), "") << size;
    EXPECT_EQ(count(text, "href"), 0);
  }
}

TEST(HeatMap, HasAPathForEachShade) {
  const std::string text = heat_map(diagonal(9));
  EXPECT_EQ(count(text, "class=\"heat\""), 3);
  EXPECT_EQ(count(text, "2.0 KiB"), 3) << "a label in each of three squares";
  EXPECT_EQ(count(text, ">1.0 KiB<"), 4) << "and the lower end of the scale";
}

TEST(HeatMap, OfManyRanksAddsUpNeighbours) {
  HeatMap map{.title = {}, .size = 256, .cells = {{0, 0, 1}, {1, 1, 2}, {0, 1, 4}, {255, 255, 100}}};
  const std::string text = heat_map(map);
  EXPECT_NE(text.find("between 2 ranks and 2"), std::string::npos);
  EXPECT_NE(text.find(">7 B<"), std::string::npos) << "the least of all squares";
  EXPECT_NE(text.find(">100 B<"), std::string::npos);
}

TEST(HeatMap, OfRatesHasTheirMeanAndNames) {
  HeatMap map{
      .title = {}, .size = 256, .cells = {{0, 0, 2e6}, {1, 1, 4e6}, {255, 255, 6e6}}, .unit = HeatMap::Unit::rate};
  EXPECT_NE(heat_map(map).find(">3 MB/s<"), std::string::npos);
  map.size = 2;
  map.cells = {{0, 1, 2e6}};
  map.names = {"node<a>", "node<b>"};
  const std::string text = heat_maps({map, map});
  EXPECT_EQ(XmlCheck::fault(text), "");
  EXPECT_EQ(count(text, "node&lt;b&gt;"), 2) << "in each of them";
}

TEST(HeatMap, SideBySideHaveOneScale) {
  HeatMap small{.title = {"one", ""}, .size = 2, .cells = {{0, 0, 1}, {1, 1, 8}}};
  HeatMap large{.title = {"other", ""}, .size = 2, .cells = {{0, 1, 64}}};
  const std::string text = heat_maps({small, large});
  EXPECT_EQ(count(text, "<svg "), 1);
  EXPECT_EQ(count(text, "class=\"heat\""), 3);
  EXPECT_EQ(count(text, ">64 B<") + count(text, ">64.0 B<"), 3);  // in its square, and at the end of both scales
  EXPECT_NE(text.find(">one<"), std::string::npos);
  EXPECT_NE(text.find(">other<"), std::string::npos);
}

TEST(HeatMap, OfNothingSaysSo) {
  EXPECT_NE(heat_map({.title = {}, .size = 4, .cells = {{1, 2, 0}}}).find("nothing is sent"), std::string::npos);
}

}  // namespace
}  // namespace quadrille::draw
