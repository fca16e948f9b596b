#include "topology/places.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <numeric>
#include <random>

namespace quadrille {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

std::vector<std::int32_t> processes(std::int32_t count, std::int32_t first = 0) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return all;
}

std::vector<Place> places(const std::vector<std::int32_t>& of, const std::function<Place(std::int32_t)>& place) {
  std::vector<Place> all;
  for (const std::int32_t process : of) all.push_back(place(process));
  return all;
}

// Nodes have numbers in no order.
std::uint64_t scrambled(std::int32_t node) {
  return (static_cast<std::uint64_t>(node) + 1) * 0x9e3779b97f4a7c15U;
}

TEST(Places, KnowWhatTheyHaveHeardOf) {
  Places known;
  EXPECT_TRUE(known.know({}));
  EXPECT_FALSE(known.know(processes(1)));
  const auto some = processes(8, 4);
  known.learn(some, places(some, [](std::int32_t one) { return Place{scrambled(one / 4)}; }));
  EXPECT_TRUE(known.know(some));
  EXPECT_TRUE(known.know(std::vector<std::int32_t>{11, 4}));
  EXPECT_FALSE(known.know(std::vector<std::int32_t>{3, 4}));
  EXPECT_FALSE(known.know(std::vector<std::int32_t>{11, 12}));
}

TEST(Places, GiveTheTopologyOfAnyRanksOfTheirs) {
  Places known;
  const auto all = processes(16);
  const auto place = [](std::int32_t one) {
    return Place{scrambled(one / 4), static_cast<std::uint32_t>(100 - one / 8)};
  };
  known.learn(all, places(all, place));
  const Topology whole = known.topology(all);
  EXPECT_EQ(whole.levels(), 3);
  EXPECT_EQ(whole.domains(1), 2);
  EXPECT_EQ(whole.domains(2), 4);
  EXPECT_TRUE(whole.same_node(4, 7));
  EXPECT_FALSE(whole.same_node(3, 4));
  // Of one rack, in another order.
  const Topology part = known.topology(std::vector<std::int32_t>{6, 1, 5, 2});
  EXPECT_EQ(part.levels(), 2);
  EXPECT_TRUE(part.same_node(0, 2));
  EXPECT_FALSE(part.same_node(0, 1));
  EXPECT_FALSE(part.in_rank_order());
  const Topology one_node = known.topology(std::vector<std::int32_t>{8, 9});
  EXPECT_EQ(one_node.levels(), 1);
}

// Whatever is learned in whatever order, they know what a plain list would.
TEST(Places, RememberEverythingThatWasLearned) {
  std::mt19937 random(3);
  for (int time = 0; time < 300; ++time) {
    Places known;
    std::vector<std::int32_t> nodes(60, -1);
    const bool regular = time % 2 == 0;
    const auto node_of = [&](std::int32_t one) { return regular ? one / 7 : (one * 11 + time) % 9; };
    for (int step = 0; step < 6; ++step) {
      std::vector<std::int32_t> some;
      const bool in_order = random() % 2 == 0;
      for (std::int32_t one = 0; one < 60; ++one) {
        if (random() % 4 == 0) some.push_back(one);
      }
      if (!in_order) std::shuffle(some.begin(), some.end(), random);
      known.learn(some, places(some, [&](std::int32_t one) { return Place{scrambled(node_of(one))}; }));
      for (const std::int32_t one : some) nodes[static_cast<std::size_t>(one)] = node_of(one);
      std::vector<std::int32_t> heard;
      for (std::int32_t one = 0; one < 60; ++one) {
        const bool is_known = nodes[static_cast<std::size_t>(one)] >= 0;
        ASSERT_EQ(known.know(std::vector<std::int32_t>{one}), is_known) << one;
        if (is_known) heard.push_back(one);
      }
      if (heard.empty()) continue;
      const Topology topology = known.topology(heard);
      for (Rank a = 0; a < static_cast<Rank>(heard.size()); ++a) {
        for (Rank b = 0; b < a; ++b) {
          ASSERT_EQ(topology.same_node(a, b),
                    node_of(heard[static_cast<std::size_t>(a)]) == node_of(heard[static_cast<std::size_t>(b)]));
        }
      }
    }
  }
}

TEST(Places, TakeNoMoreThanFourBytesAProcessWhereverTheyAre) {
  constexpr std::int32_t count = 1 << 16;
  const auto all = processes(count);
  Places known;
  known.learn(all, places(all, [](std::int32_t one) { return Place{scrambled(one % 64)}; }));
  EXPECT_LE(known.bytes(), 4 * count + 64 * 20 + 256);
  EXPECT_TRUE(known.topology(all).same_node(1, 65));
}

// Ranks follow one another on nodes of 64.
TEST(Places, OfAMillionRanksTakeLittleMemoryAndTime) {
  constexpr std::int32_t count = 1 << 20;
  const auto all = processes(count);
  Places known;
  known.learn(all, places(all, [](std::int32_t one) { return Place{scrambled(one / 64)}; }));
  auto best = std::chrono::nanoseconds::max();
  std::int64_t bytes = 0;
  for (int time = 0; time < 5; ++time) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(known.know(all));
    const Topology topology = known.topology(all);
    best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
    bytes = known.bytes() + topology.bytes();
    EXPECT_EQ(topology.domains(1), count / 64);
  }
  EXPECT_LT(bytes, 1 << 20);
  const double milliseconds = std::chrono::duration<double, std::milli>(best).count();
  RecordProperty("bytes", std::to_string(bytes));
  RecordProperty("milliseconds", std::to_string(milliseconds));
  if (sanitized) GTEST_SKIP() << "sanitizers take their time";
  EXPECT_LT(milliseconds, 100) << "10 on a quiet machine";
}

}  // namespace
}  // namespace quadrille
