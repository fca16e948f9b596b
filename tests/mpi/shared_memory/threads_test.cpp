#include "shared_memory/threads.hpp"

#include <gtest/gtest.h>

namespace quadrille::shared {
namespace {

class Threads : public testing::TestWithParam<int> {};

TEST_P(Threads, RunEveryCollectiveOverTheSameLanesWithRotatingRoots) {
  EXPECT_EQ(run_threads(GetParam(), GetParam() > 8 ? 20 : 200), "");
}

INSTANTIATE_TEST_SUITE_P(Ranks, Threads, testing::Values(1, 2, 3, 4, 7, 18));

}  // namespace
}  // namespace quadrille::shared
