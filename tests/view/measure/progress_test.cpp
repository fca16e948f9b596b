#include "measure/progress.hpp"

#include <gtest/gtest.h>

namespace quadrille::measure {
namespace {

TEST(Progress, AnnouncesWhatTheTimeLimitAllows) {
  const Progress progress({8, 8, 4}, {.seconds = 6, .least = 9});
  EXPECT_DOUBLE_EQ(progress.most(), 120);
  EXPECT_EQ(progress.announcement(),
            "3 cells, 20 points: at most 2 min and the first calls, longer only where 9 repeats of a point take more "
            "than 6 s");
  EXPECT_TRUE(Progress({2}, {}).announcement().starts_with("1 cell, 2 points: at most 2 s and the first calls, "));
}

TEST(Progress, BeforeACellIsDoneTheLimitIsLeft) {
  Progress progress({5, 5}, {.seconds = 1});
  progress.begin(100);
  EXPECT_DOUBLE_EQ(progress.left(100), 10);
  EXPECT_DOUBLE_EQ(progress.left(103), 7);
  // A cell that takes longer does not make the others shorter.
  EXPECT_DOUBLE_EQ(progress.left(120), 5);
}

TEST(Progress, LearnsFromTheCellsDone) {
  Progress progress({10, 10, 10, 10}, {.seconds = 1});
  progress.begin(0);
  for (int cell = 1; cell <= 3; ++cell) progress.end_cell(cell);
  // 3 cells took 3 s of 30, and one more is counted that takes all of its 10.
  EXPECT_NEAR(progress.left(3), 10 * 13.0 / 40, 1e-9);
  progress.end_cell(4);
  EXPECT_EQ(progress.left(4), 0);
}

}  // namespace
}  // namespace quadrille::measure
