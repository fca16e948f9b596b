#include "engine/waiting.hpp"

#include <gtest/gtest.h>

namespace quadrille::engine {
namespace {

using namespace std::chrono_literals;

constexpr Patience sleeps_at_once{
    .spin = 0ns, .yield = 0ns, .yield_if_woken = 0ns, .sleep = 50us, .longest_sleep = 1ms, .longest_if_woken = 10ms};

TEST(Waiter, WhoIsWokenSleepsTwiceAsLongEachTime) {
  Waiter waiter(sleeps_at_once);
  for (const auto expected : {1ms, 2ms, 4ms, 8ms, 10ms, 10ms}) EXPECT_EQ(waiter.rest(true), expected);
  waiter.busy();
  EXPECT_EQ(waiter.rest(true), 1ms);
}

TEST(Waiter, KnowsItsFirstSleep) {
  Waiter waiter(sleeps_at_once);
  EXPECT_FALSE(waiter.first_sleep());
  waiter.rest(true);
  EXPECT_TRUE(waiter.first_sleep());
  waiter.rest(true);
  EXPECT_FALSE(waiter.first_sleep());
  waiter.busy();
  waiter.rest(true);
  EXPECT_TRUE(waiter.first_sleep());
}

TEST(Waiter, NobodyElseSleepsLongerThanTheyMay) {
  Waiter waiter(sleeps_at_once);
  for (int i = 0; i < 100; ++i) {
    const auto nap = waiter.rest(false);
    EXPECT_GE(nap, 50us);
    EXPECT_LE(nap, 1ms);
  }
  // With MPI alone at the wheel all sleeps are short.
  const Patience with_mpi = Patience::with_mpi();
  EXPECT_LE(std::max(with_mpi.longest_sleep, with_mpi.longest_if_woken), 100us);
}

TEST(Waiter, YieldsBeforeItSleeps) {
  Patience patient = sleeps_at_once;
  patient.yield = patient.yield_if_woken = 1h;
  Waiter waiter(patient);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(waiter.rest(i % 2 == 0), 0ns);
}

}  // namespace
}  // namespace quadrille::engine
