#include "engine/budget.hpp"

#include <gtest/gtest.h>

namespace quadrille::engine {
namespace {

TEST(Budget, IsKeptAndMostOfItUsed) {
  constexpr std::int64_t most = 16 * (32 << 10);
  const auto is_usual = [](std::int64_t budget) { return budget >= 4096 && budget < most / 2; };
  for (const bool staged : {false, true}) {
    for (const bool rest : {false, true}) {
      for (const Rank ranks : {2, 3, 16, 64}) {
        for (std::int64_t budget = least_to_swap; budget < 4 * most; budget += 1 + budget / 37) {
          SCOPED_TRACE(budget);
          const Cut cut = Cut::of(budget, {.ranks = ranks, .staged = staged, .staged_anywhere = staged, .rest = rest});
          ASSERT_GT(cut.chunk, 0);
          ASSERT_LE(cut.bytes, budget);
          if (!staged && !rest && is_usual(budget)) {
            ASSERT_GT(cut.ring(), budget / 3 * 2);
          }
        }
      }
    }
  }
}

TEST(Budget, IsCutWithoutWasteWherePowersOfTwoFit) {
  for (const std::int64_t budget : {8 << 10, 20 << 10, 40 << 10, 64 << 10, 128 << 10, 256 << 10}) {
    EXPECT_EQ(Cut::of(budget, {.ranks = 16}).ring(), budget);
  }
}

// Little data needs no long chunks, but many partners.
TEST(Budget, ShortBlocksLeaveRoomForManyPartners) {
  const Cut cut = Cut::of(least_budget, {.ranks = 64, .longest = 8});
  EXPECT_EQ(cut.chunk, 8);
  EXPECT_EQ(cut.lanes, 8);
  EXPECT_LT(cut.bytes, 1024);
}

TEST(Budget, IsAHundredthOfTheDataOrALittle) {
  EXPECT_EQ(default_budget(0), least_budget);
  EXPECT_EQ(default_budget(1LL << 40), (1LL << 40) / 100);
}

}  // namespace
}  // namespace quadrille::engine
