#include "select/budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "run/arena.hpp"

namespace quadrille {
namespace {

TEST(Budget, IsKeptAndMostOfItUsed) {
  constexpr std::int64_t most = 16 * (32 << 10);
  const auto is_usual = [](std::int64_t budget) { return budget >= 4096 && budget < most / 2; };
  for (const bool packed : {false, true}) {
    for (const bool spare : {false, true}) {
      for (const Rank ranks : {2, 3, 16, 64}) {
        for (std::int64_t budget = Budget::least_to_swap; budget < 4 * most; budget += 1 + budget / 37) {
          SCOPED_TRACE(budget);
          const Chunking cut =
              Budget(budget).chunking({.ranks = ranks, .packed = packed, .packed_anywhere = packed, .spare = spare});
          ASSERT_GT(cut.chunk, 0);
          ASSERT_LE(cut.bytes, budget);
          if (!packed && !spare && is_usual(budget)) {
            ASSERT_GT(cut.ring(), budget / 3 * 2);
          }
        }
      }
    }
  }
}

TEST(Budget, IsCutWithoutWasteWherePowersOfTwoFit) {
  for (const std::int64_t budget : {8 << 10, 20 << 10, 40 << 10, 64 << 10, 128 << 10, 256 << 10}) {
    EXPECT_EQ(Budget(budget).chunking({.ranks = 16}).ring(), budget);
  }
}

// Little data needs no long chunks, but many partners.
TEST(Budget, ShortBlocksLeaveRoomForManyPartners) {
  const Chunking cut = Budget(Budget::least_in_place).chunking({.ranks = 64, .longest = 8});
  EXPECT_EQ(cut.chunk, 8);
  EXPECT_EQ(cut.partners, 8);
  EXPECT_LT(cut.bytes, 1024);
}

TEST(Budget, HoldsPackedMessagesAndWhatIsKeptBesides) {
  for (const std::int64_t kept : {1, 8, 100, 5000, 1 << 20}) {
    const std::int64_t least = Budget::least_to_pack(kept);
    EXPECT_EQ(Budget(least - 1).packing(kept, 1 << 30).part, 0);
    for (std::int64_t budget = least; budget < 64 * least; budget += 1 + budget / 37) {
      for (const std::int64_t longest : {37, 1000, 1 << 30}) {
        SCOPED_TRACE(budget);
        const Packing made = Budget(budget).packing(kept, longest);
        ASSERT_GT(made.part, 0);
        ASSERT_LE(made.part, longest);
        ASSERT_GE(std::min(made.sends, made.receives), 1);
        ASSERT_EQ(made.bytes, (made.sends + made.receives) * Arena::taken_for(made.part));
        ASSERT_LE(made.bytes + Arena::taken_for(kept), budget);
      }
    }
  }
  const Packing much = Budget(1 << 20).packing(8, 1 << 30);
  EXPECT_GT(much.bytes, (1 << 20) / 3);
  EXPECT_EQ(much.receives, 8);
}

TEST(Budget, IsAHundredthOfTheDataOrALittle) {
  EXPECT_EQ(Budget::in_place(0).bytes(), Budget::least_in_place);
  EXPECT_EQ(Budget::in_place(1LL << 40).bytes(), (1LL << 40) / 100);
}

TEST(Budget, IsTheTighterOfTwo) {
  EXPECT_FALSE(Budget().within(Budget()).limited());
  EXPECT_EQ(Budget().within(Budget(5)).bytes(), 5);
  EXPECT_EQ(Budget(5).within(Budget()).bytes(), 5);
  EXPECT_EQ(Budget(5).within(Budget(3)).bytes(), 3);
}

TEST(Budget, WithoutALimitCutsNothing) {
  EXPECT_EQ(Budget().part(1 << 30), 1 << 30);
  EXPECT_EQ(Budget().segment(32768), 32768);
  EXPECT_EQ(Budget(1600).part(1 << 30), 100);
  EXPECT_EQ(Budget(1).part(1 << 30), 1);
  EXPECT_EQ(Budget(1LL << 40).part(1 << 20), 1 << 20);
  EXPECT_EQ(Budget(3200).segment(32768), 100);
}

TEST(Budget, WhatARunNeedsGrowsWithItsScratchAndHoldsPackedParts) {
  const Budget budget(1 << 20);
  EXPECT_GE(budget.needed(0, 1 << 30), 4 * budget.part(1 << 30));
  EXPECT_GE(budget.needed(1 << 20, 1 << 30), (1 << 20) + budget.needed(0, 1 << 30));
}

}  // namespace
}  // namespace quadrille
