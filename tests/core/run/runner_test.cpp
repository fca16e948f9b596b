#include "run/runner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <new>

#include "schedule/builder.hpp"

namespace {
std::atomic<std::int64_t> allocations = 0;
}

// Not inlined: the compiler would see malloc here and delete there.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace quadrille {
namespace {

// A world in which every message ends when the test says so.
class Bench final : public Backend, public Observer {
 public:
  Bench() { in_flight.reserve(1024); }

  std::int64_t units(Buffer, Rank, std::int32_t) override { return block_units; }
  void send(Token token, Rank, std::int32_t, std::span<const Piece>) override { begin(token, sends); }
  void receive(Token token, Rank, std::int32_t, std::span<const Piece>) override { begin(token, receives); }
  void copy(Token, const Piece&, const Piece&) override { ++copies; }
  void reduce(Token, const Piece&, const Piece&, const Piece&) override {}
  void publish(Token, std::int32_t, std::int64_t value) override { published = value; }
  bool reached(Token, Rank, std::int32_t, std::int64_t value) override { return value <= counter; }
  void put(Token, Rank, const Piece&, const Piece&) override {}
  void flush(Token token, Rank) override { in_flight.push_back(token); }
  void notify(Token, Rank, std::int32_t, std::int64_t) override {}
  void posted(Token) override { ++posts; }
  void completed(Token) override { ++completions; }

  // Ends the message at a place in the list.
  void end(Runner& runner, std::size_t place) {
    const Token token = in_flight[place];
    in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(place));
    --(runner.program().operation(token.operation).kind == Kind::send ? sends : receives);
    runner.complete(token);
  }

  std::vector<Token> in_flight;
  std::int64_t sends = 0;
  std::int64_t receives = 0;
  std::int64_t most_sends = 0;
  std::int64_t copies = 0;
  std::int64_t posts = 0;
  std::int64_t completions = 0;
  std::int64_t published = 0;
  std::int64_t counter = 0;
  std::int64_t block_units = 0;

 private:
  void begin(Token token, std::int64_t& direction) {
    in_flight.push_back(token);
    ++direction;
    most_sends = std::max(most_sends, sends);
  }
};

const Region data{.buffer = Buffer::output, .length = 64};

Program forwarding_program() {
  Builder builder(1, 3, Unit::bytes);
  builder.for_each_segment(64, 4, 4, [&](const Segment& segment) {
    builder.receive(0, segment.of(data));
    builder.send(2, segment.of(data));
  });
  return Program(builder.finish());
}

TEST(Runner, AllocatesNothingOnceItIsMade) {
  const Program program = forwarding_program();
  for (std::int64_t window : {1, 3, 100}) {
    Bench bench;
    Runner runner(program, bench, {.window = window});
    for (int round = 0; round < 3; ++round) {
      const std::int64_t before = allocations;
      runner.start();
      while (!runner.done()) {
        runner.advance();
        if (!bench.in_flight.empty()) bench.end(runner, 0);
      }
      EXPECT_EQ(allocations, before);
    }
  }
}

TEST(Runner, KeepsAtMostAWindowOfMessagesInFlight) {
  Builder builder(0, 40, Unit::bytes);
  for (Rank peer = 1; peer < 40; ++peer) builder.send(peer, data);
  const Program program(builder.finish());
  for (std::int64_t window : {1, 2, 7, 38, 39, 1000}) {
    Bench bench;
    std::mt19937_64 random(static_cast<std::uint64_t>(window));
    Runner runner(program, bench, {.window = window, .shuffle = &random});
    runner.start();
    while (!runner.done()) {
      runner.advance();
      // The newest first: the window slides only with the oldest.
      if (!bench.in_flight.empty()) bench.end(runner, bench.in_flight.size() - 1);
    }
    EXPECT_LE(bench.most_sends, window);
    EXPECT_EQ(bench.most_sends, std::min<std::int64_t>(window, 39));
  }
}

TEST(Runner, StartsAnIterationOnlyWhenTheOneAWindowBeforeIsComplete) {
  Builder builder(0, 2, Unit::bytes);
  builder.for_each_segment(64, 4, 3, [&](const Segment& segment) { builder.receive(1, segment.of(data)); });
  const Program program(builder.finish());
  Bench bench;
  Runner runner(program, bench);
  runner.start();
  runner.advance();
  EXPECT_EQ(bench.in_flight.size(), 3U);
  bench.end(runner, 2);
  bench.end(runner, 1);
  runner.advance();
  EXPECT_EQ(bench.in_flight.size(), 1U);  // the oldest is still under way
  bench.end(runner, 0);
  runner.advance();
  EXPECT_EQ(bench.in_flight.size(), 3U);
}

TEST(Runner, DoesNotSendMessagesWithoutDataButSignals) {
  Builder builder(0, 3, Unit::bytes);
  builder.send(1, Region{.buffer = Buffer::input});  // of unknown length, which turns out to be 0
  builder.send_signal(2);
  const Program program(builder.finish());
  Bench bench;
  Runner runner(program, bench);
  runner.start();
  runner.advance();
  ASSERT_EQ(bench.in_flight.size(), 1U);
  EXPECT_EQ(bench.in_flight[0].operation, 1);
}

TEST(Runner, RunsOverABlockInAsManyChunksAsItHolds) {
  Builder builder(0, 2, Unit::bytes);
  const Region block{.buffer = Buffer::input};
  builder.for_each_chunk(block, 10, 64, [&](const Segment& chunk) { builder.send(1, chunk.of(block)); });
  const Program program(builder.finish());
  for (std::int64_t units : {0, 1, 10, 35}) {
    Bench bench;
    bench.block_units = units;
    Runner runner(program, bench);
    runner.start();
    runner.advance();
    EXPECT_EQ(static_cast<std::int64_t>(bench.in_flight.size()), (units + 9) / 10);
    EXPECT_EQ(runner.done(), units == 0);
  }
}

TEST(Runner, WaitsForCountersWithoutBlocking) {
  Builder builder(0, 2, Unit::bytes);
  builder.counters(1, 1);
  builder.in_order([&] {
    builder.wait(1, 0, 5);
    builder.publish(0, 7);
  });
  const Program program(builder.finish());
  Bench bench;
  Runner runner(program, bench);
  runner.start();
  runner.advance();
  EXPECT_FALSE(runner.advance());
  int waiting = 0;
  runner.for_each_in_flight([&](Token token) { waiting += token.operation == 0; });
  EXPECT_EQ(waiting, 1);
  bench.counter = 5;
  EXPECT_TRUE(runner.advance());
  EXPECT_TRUE(runner.done());
  EXPECT_EQ(bench.published, 7);
}

// Segments taken out of a slot of rank 0, each as soon as it is there; the last one's word may come by another counter.
Program taking_program(std::int32_t counter_of_the_rest) {
  Builder builder(1, 2, Unit::bytes);
  builder.counters(2, 32);
  builder.for_each_segment(62, 4, 4, [&](const Segment& segment) {
    builder.in_order([&] {
      builder.wait(0, segment.step() != 0 ? 0 : counter_of_the_rest, segment);
      builder.copy({.buffer = Buffer::input, .length = 2}, {.buffer = Buffer::output, .length = 2});
    });
  });
  return Program(builder.finish());
}

TEST(Runner, SaysWhichCounterItWaitsForIfItIsOne) {
  const Program program = taking_program(0);
  Bench bench;
  Runner runner(program, bench);
  runner.start();
  runner.advance();
  ASSERT_TRUE(runner.awaits_one());
  EXPECT_EQ(runner.awaits_one()->owner, 0);
  EXPECT_EQ(runner.awaits_one()->value, 1);
  bench.counter = 2;
  runner.advance();
  ASSERT_TRUE(runner.awaits_one());
  EXPECT_EQ(runner.awaits_one()->value, 3);
  bench.counter = 16;
  while (!runner.done()) runner.advance();
  EXPECT_FALSE(runner.awaits_one());
}

TEST(Runner, SaysSoIfItWaitsForSeveralCounters) {
  const Program program = taking_program(1);
  Bench bench;
  Runner runner(program, bench);
  runner.start();
  runner.advance();
  EXPECT_FALSE(runner.awaits_one());
}

TEST(Runner, TellsItsObserverOfEveryOperation) {
  const Program program = forwarding_program();
  Bench bench;
  Runner runner(program, bench, {.observer = &bench});
  runner.start();
  while (!runner.done()) {
    runner.advance();
    if (!bench.in_flight.empty()) bench.end(runner, 0);
  }
  EXPECT_EQ(bench.posts, 32);
  EXPECT_EQ(bench.completions, 32);
}

}  // namespace
}  // namespace quadrille
