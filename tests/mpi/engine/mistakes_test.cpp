#include "engine/mistakes.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace quadrille::engine::mistakes {
namespace {

using Of = Complaint::Of;
using Numbers = std::vector<std::int64_t>;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(Mistakes, NumbersBelowZeroAreFound) {
  EXPECT_EQ(negative(Numbers{0, 3}, Numbers{5, 0}).what, Of::nothing);
  EXPECT_EQ(negative(Numbers{0, -3}, Numbers{5, -1}).what, Of::negative);
  EXPECT_EQ(negative(Numbers{0, -3}, Numbers{5, -1}).detail, -3);
  EXPECT_EQ(negative(Numbers{0, 3}, Numbers{5, -1}).detail, -1);
}

TEST(Mistakes, BytesThatCannotBeCountedAreFound) {
  EXPECT_EQ(excessive(Numbers{most / 8, 0}, Numbers{0, most / 8}, 8).what, Of::nothing);
  EXPECT_EQ(excessive(Numbers{most / 8, 1}, Numbers{0, 0}, 8).what, Of::excess) << "in all";
  EXPECT_EQ(excessive(Numbers{1, 1}, Numbers{0, most / 8}, 8).what, Of::excess) << "the end of a block";
  EXPECT_EQ(excessive(Numbers{most, most}, Numbers{0, 0}, 1).what, Of::excess);
}

TEST(Mistakes, BlocksThatOverlapOrLieOutsideAreFound) {
  EXPECT_EQ(misplaced(Numbers{2, 3}, Numbers{3, 0}, 5).what, Of::nothing);
  EXPECT_EQ(misplaced(Numbers{2, 3}, Numbers{2, 0}, 5).what, Of::overlap);
  EXPECT_EQ(misplaced(Numbers{2, 3}, Numbers{2, 0}, 5).detail, 2);
  EXPECT_EQ(misplaced(Numbers{2, 3}, Numbers{4, 0}, 5).what, Of::outside);
  EXPECT_EQ(misplaced(Numbers{2, 3}, Numbers{4, 0}, 5).detail, 6);
  EXPECT_EQ(misplaced(Numbers{2, 3}, Numbers{4, 0}, -1).what, Of::nothing) << "no end";
  EXPECT_EQ(misplaced(Numbers{0, 3}, Numbers{100, 0}, 3).what, Of::nothing) << "of no elements";
}

}  // namespace
}  // namespace quadrille::engine::mistakes
