#include "draw/mosaic.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "draw/count.hpp"
#include "draw/xml.hpp"

namespace quadrille::draw {
namespace {

Mosaic two_by_two() {
  return {.heading = "bcast <1>",
          .subheading = "4 ranks & more",
          .columns_title = "bytes",
          .rows_title = "ranks",
          .columns = {"8 B", "1 MiB"},
          .rows = {"16", "64"},
          .cells = {{{"ring", "1 s"}, {"tree", "2 s"}}, {{"tree", "3 s"}, {"tree", "4 s"}}}};
}

TEST(Mosaic, IsWellFormedWithACellForEachPoint) {
  const std::string text = mosaic(two_by_two());
  EXPECT_EQ(XmlCheck::fault(text), "");
  EXPECT_EQ(count(text, "class=\"cell\""), 4);
  for (const char* part : {"bcast &lt;1&gt;", "8 B", "1 MiB", ">64<", ">4 s<"})
    EXPECT_EQ(count(text, part) > 0, true) << part;
  EXPECT_EQ(count(text, ">ring<"), 1);
  EXPECT_EQ(count(text, ">tree<"), 1);
}

TEST(Mosaic, HasMoreRanksFurtherUp) {
  const std::string text = mosaic(two_by_two());
  EXPECT_LT(text.find(">64<"), text.find(">16<"));
}

TEST(Mosaic, WithMissingCellsIsRefused) {
  Mosaic picture = two_by_two();
  picture.cells.back().pop_back();
  EXPECT_THROW(mosaic(picture), std::invalid_argument);
  EXPECT_THROW(mosaic(Mosaic{}), std::invalid_argument);
}

}  // namespace
}  // namespace quadrille::draw
