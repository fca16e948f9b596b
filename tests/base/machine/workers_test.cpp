#include "machine/workers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>

namespace quadrille::machine {
namespace {

TEST(Workers, RunEachJobOnce) {
  for (const int threads : {-1, 0, 1, 2, 5, 100'000}) {
    std::array<std::atomic<int>, 37> runs = {};
    run_on_threads(threads, runs.size(), [&](std::size_t job) { ++runs.at(job); });
    for (const std::atomic<int>& one : runs) EXPECT_EQ(one, 1);
  }
  run_on_threads(2, 0, [](std::size_t) { FAIL(); });
}

TEST(Workers, ThrowWhatTheFirstJobThrewWhenAllHaveEnded) {
  std::atomic<int> runs = 0;
  try {
    run_on_threads(3, 20, [&](std::size_t job) {
      ++runs;
      if (job % 7 == 3) throw std::runtime_error(std::to_string(job));
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "3");
  }
  EXPECT_EQ(runs, 20);
}

}  // namespace
}  // namespace quadrille::machine
