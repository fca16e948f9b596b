#include "machine/load.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace quadrille::machine {
namespace {

TEST(Load, GrowsWithWork) {
  const Load before = load();
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  Load after = before;
  while (std::chrono::steady_clock::now() < until || after.own - before.own < 0.1) after = load();
  EXPECT_GT(after.busy, before.busy);
  EXPECT_GE(processors(), 1);
  EXPECT_EQ(identity(), identity());
}

}  // namespace
}  // namespace quadrille::machine
