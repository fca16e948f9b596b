#include "engine/cache.hpp"

#include <gtest/gtest.h>

#include <array>

#include "engine/context.hpp"

namespace quadrille::engine {
namespace {

class CacheTest : public testing::Test {
 protected:
  static Shape bcast(std::int64_t bytes) {
    return {.variant = variant_named(Collective::bcast, "binomial"), .count = bytes};
  }
  static CallKey key_of(std::int64_t bytes, MPI_Op op = MPI_OP_NULL) {
    return {.collective = static_cast<std::uint16_t>(Collective::bcast),
            .output_count = bytes,
            .output_type = CallKey::bits(MPI_BYTE),
            .op = CallKey::bits(op)};
  }
  // As a call leaves it.
  Task* keep(Cache& cache, std::int64_t bytes, const CallKey& key) {
    const Shape shape = bcast(bytes);
    cache.program(shape, [&] { return context.program(shape)->schedule(); });
    std::unique_ptr<Task> task = cache.take(shape);
    if (!task) task = context.prepare(shape, {.collective = Collective::bcast}, {});
    task->binding().output = {{nullptr, bytes, nullptr}};
    task->set_key(key);
    Task* const kept = task.get();
    cache.keep(std::move(task));
    return kept;
  }

  Context context{MPI_COMM_SELF, Settings{}};
  std::array<char, 100000> buffer = {};
};

TEST_F(CacheTest, GivesACallTheTaskOfOneLikeItAtItsOwnAddress) {
  Cache cache;
  Task* const kept = keep(cache, 8, key_of(8));
  EXPECT_FALSE(cache.recall(key_of(9), nullptr, buffer.data()).task);
  Cache::Recalled recalled = cache.recall(key_of(8), nullptr, buffer.data());
  ASSERT_EQ(recalled.task.get(), kept);
  EXPECT_EQ(static_cast<void*>(recalled.task->binding().output.front().address), buffer.data());
  // While it is in use there is none.
  EXPECT_FALSE(cache.recall(key_of(8), nullptr, buffer.data()).task);
  cache.keep(std::move(recalled.task));
  // A NULL buffer wants a second look.
  EXPECT_FALSE(cache.recall(key_of(8), nullptr, nullptr).task);
}

TEST_F(CacheTest, CallsThatShareAScheduleHaveATaskEach) {
  Cache cache;
  Task* const sum = keep(cache, 8, key_of(8, MPI_SUM));
  Task* const max = keep(cache, 8, key_of(8, MPI_MAX));
  EXPECT_NE(sum, max);
  for (int time = 0; time < 3; ++time) {
    for (const auto& [op, task] : {std::pair{MPI_SUM, sum}, std::pair{MPI_MAX, max}}) {
      Cache::Recalled recalled = cache.recall(key_of(8, op), nullptr, buffer.data());
      ASSERT_EQ(recalled.task.get(), task);
      cache.keep(std::move(recalled.task));
    }
  }
}

TEST_F(CacheTest, CallsOfAllSizesShareATaskWhereTheScheduleScales) {
  Cache cache;
  // As the engine shapes them: one schedule, and the size as its scale.
  const auto keep_scaled = [&](std::int64_t bytes) {
    const Shape shape = bcast(1);
    cache.program(shape, [&] { return context.program(shape)->schedule(); });
    std::unique_ptr<Task> task = context.prepare(shape, {.collective = Collective::bcast, .count = bytes}, {});
    task->binding().output = {{nullptr, bytes, nullptr}};
    task->binding().scale = bytes;
    task->set_key(key_of(bytes));
    cache.keep(std::move(task));
  };
  keep_scaled(8);
  keep_scaled(1000);
  for (const std::int64_t bytes : {8, 1000, 1000, 8}) {
    Cache::Recalled recalled = cache.recall(key_of(bytes), nullptr, buffer.data());
    ASSERT_TRUE(recalled.task);
    EXPECT_EQ(recalled.task->binding().scale, bytes);
    EXPECT_EQ(recalled.task->binding().output.front().count, bytes);
    EXPECT_EQ(recalled.task->asked().count, bytes);
    cache.keep(std::move(recalled.task));
  }
  // One that is out while everything is forgotten finds its way back.
  Cache small(1, 1);
  keep(small, 8, key_of(8));
  Cache::Recalled out = small.recall(key_of(8), nullptr, buffer.data());
  keep(small, 9, key_of(9));
  keep(small, 8, key_of(8));
  small.keep(std::move(out.task));
  EXPECT_TRUE(small.recall(key_of(8), nullptr, buffer.data()).task);
}

TEST_F(CacheTest, KeepsToItsBytesAndForgetsWhatWasNotUsedLately) {
  constexpr std::int64_t most = 100000;
  Cache cache(most, 1);
  keep(cache, 1, key_of(1));
  for (std::int64_t bytes = 2; bytes < 1000; ++bytes) {
    keep(cache, bytes, key_of(bytes));
    EXPECT_LE(cache.bytes(), most);
    // In use all the time.
    Cache::Recalled recalled = cache.recall(key_of(1), nullptr, buffer.data());
    ASSERT_TRUE(recalled.task);
    cache.keep(std::move(recalled.task));
  }
  EXPECT_GT(cache.bytes(), most / 2);
  EXPECT_TRUE(cache.recall(key_of(999), nullptr, buffer.data()).task);
  EXPECT_FALSE(cache.recall(key_of(2), nullptr, buffer.data()).task);
}

TEST_F(CacheTest, WhatComesBackWhenItsScheduleIsForgottenGoes) {
  Cache cache(1, 1);
  keep(cache, 8, key_of(8));
  Cache::Recalled recalled = cache.recall(key_of(8), nullptr, buffer.data());
  ASSERT_TRUE(recalled.task);
  keep(cache, 9, key_of(9));
  cache.keep(std::move(recalled.task));
  EXPECT_FALSE(cache.recall(key_of(8), nullptr, buffer.data()).task);
  EXPECT_TRUE(cache.recall(key_of(9), nullptr, buffer.data()).task);
}

TEST_F(CacheTest, KnowsWhatTheMpiRunsWithinItsBytes) {
  Cache cache(100000, 1);
  Decision decision;
  decision.add({.kind = Reason::Kind::no_rule, .first = 8});
  for (std::int64_t bytes = 0; bytes < 1000; ++bytes) {
    cache.keep_native(key_of(bytes), decision);
    EXPECT_LE(cache.bytes(), 100000);
  }
  const Cache::Recalled recalled = cache.recall(key_of(999), nullptr, nullptr);
  ASSERT_TRUE(recalled.native);
  EXPECT_EQ(*recalled.native, Reason::Kind::no_rule);
  EXPECT_FALSE(cache.recall(key_of(0), nullptr, nullptr).native);
}

TEST_F(CacheTest, ForgetsOperationsAndSizesBeyondWhatOneScheduleMayHave) {
  Cache cache;
  const Shape shape = bcast(1);
  const auto keep_scaled = [&](const CallKey& key) {
    cache.program(shape, [&] { return context.program(shape)->schedule(); });
    std::unique_ptr<Task> task = context.prepare(shape, {.collective = Collective::bcast}, {});
    task->binding().output = {{nullptr, 1, nullptr}};
    task->set_key(key);
    cache.keep(std::move(task));
  };
  CallKey key = key_of(1);
  for (int op = 0; op < 1000; ++op) {
    key.op = static_cast<std::uint64_t>(op);
    keep_scaled(key);
    Cache::Recalled recalled = cache.recall(key, nullptr, buffer.data());
    ASSERT_TRUE(recalled.task) << op;
    cache.keep(std::move(recalled.task));
  }
  const std::int64_t bytes = cache.bytes();
  key.op = 0;
  EXPECT_FALSE(cache.recall(key, nullptr, buffer.data()).task);
  for (int op = 1000; op < 2000; ++op) {
    key.op = static_cast<std::uint64_t>(op);
    keep_scaled(key);
  }
  EXPECT_LE(cache.bytes(), 2 * bytes);
}

TEST_F(CacheTest, EqualCountsHaveOnePointerAsLongAsItIsUsed) {
  Cache cache;
  const auto shares = [&](std::vector<std::int64_t> counts) {
    return cache.shares({counts.data()}, static_cast<Rank>(counts.size()));
  };
  const auto first = shares({1, 2, 3});
  EXPECT_EQ(first->total(), 6);
  EXPECT_EQ(shares({1, 2, 3}), first);
  EXPECT_NE(shares({1, 2, 4}), first);
  EXPECT_NE(shares({2, 1, 3}), first);
  const std::weak_ptr<const Shares> unused = shares({5, 5, 5});
  for (int i = 0; i < 1000; ++i) shares({i, 0, 0});
  EXPECT_TRUE(unused.expired());
  EXPECT_EQ(shares({1, 2, 3}), first);
}

TEST_F(CacheTest, BytesAreThoseOfWhatIsLeft) {
  Cache cache(1, 1);
  for (int time = 0; time < 3; ++time) {
    for (std::int64_t bytes = 1; bytes < 100; ++bytes) keep(cache, bytes, key_of(bytes));
  }
  // The one used last stays.
  Cache one(1, 1);
  keep(one, 99, key_of(99));
  EXPECT_EQ(cache.bytes(), one.bytes());
}

}  // namespace
}  // namespace quadrille::engine
