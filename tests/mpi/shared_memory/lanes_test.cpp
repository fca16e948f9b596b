#include "shared_memory/lanes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include "shared_memory/segment.hpp"

namespace quadrille::shared {
namespace {

constexpr std::int64_t slot_bytes = 256;

// Memory for some ranks, and each rank's view of it.
struct Node {
  explicit Node(std::int32_t ranks) : segment(Segment::create(Lanes::bytes(ranks, slot_bytes))) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      lanes.emplace_back(segment.memory(), rank, ranks, slot_bytes, Lanes::Waits::asleep);
    }
  }
  Segment segment;
  std::vector<Lanes> lanes;
};

TEST(Lanes, ARunTakesALaneOnlyWhenAllHaveEndedTheOneBefore) {
  Node node(2);
  for (std::int64_t run = 0; run < Lanes::lanes; ++run) EXPECT_TRUE(node.lanes[0].free_for(run));
  EXPECT_FALSE(node.lanes[0].free_for(Lanes::lanes));
  node.lanes[0].ended_below(1);
  EXPECT_FALSE(node.lanes[0].free_for(Lanes::lanes));
  node.lanes[1].ended_below(1);
  EXPECT_TRUE(node.lanes[0].free_for(Lanes::lanes));
  EXPECT_FALSE(node.lanes[0].free_for(Lanes::lanes + 1));
}

TEST(Lanes, CountersBeginEveryRunBelowItsValues) {
  Node node(2);
  node.lanes[1].publish(0, 3, 4);
  EXPECT_TRUE(node.lanes[0].reached(0, 1, 3, 4));
  EXPECT_FALSE(node.lanes[0].reached(0, 1, 3, 5));
  for (Lanes& lanes : node.lanes) lanes.ended_below(1);
  const std::int64_t next = Lanes::lanes;
  EXPECT_FALSE(node.lanes[0].reached(next, 1, 3, 1));
  EXPECT_TRUE(node.lanes[0].reached(next, 1, 3, 0));  // though the counter is not there yet
  node.lanes[1].publish(next, 3, 1);
  EXPECT_TRUE(node.lanes[0].reached(next, 1, 3, 1));
}

TEST(Lanes, NothingOverlaps) {
  constexpr std::int32_t ranks = 3;
  Node node(ranks);
  std::int64_t mark = 0;
  // Every counter and slot gets a number of its own, then all are looked at.
  const auto for_each_place = [&](const auto& counter, const auto& slot) {
    for (std::int64_t run = 0; run < Lanes::lanes; ++run) {
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        for (std::int32_t which = 0; which < Lanes::counters; ++which) counter(run, rank, which, ++mark);
        for (const std::int64_t bytes : {std::int64_t{16}, slot_bytes}) {
          slot(node.lanes[0].slots(run, rank, bytes), bytes, static_cast<std::byte>(++mark));
        }
      }
    }
  };
  for_each_place([&](auto run, auto rank, auto which,
                     auto value) { node.lanes[static_cast<std::size_t>(rank)].publish(run, which, value); },
                 [](std::byte* at, std::int64_t bytes, std::byte value) { std::fill_n(at, bytes, value); });
  mark = 0;
  for_each_place(
      [&](auto run, auto rank, auto which, auto value) {
        EXPECT_TRUE(node.lanes[0].reached(run, rank, which, value));
        EXPECT_FALSE(node.lanes[0].reached(run, rank, which, value + 1));
      },
      [](const std::byte* at, std::int64_t bytes, std::byte value) {
        EXPECT_TRUE(std::all_of(at, at + bytes, [value](std::byte one) { return one == value; }));
      });
}

TEST(Lanes, WhoeverSleepsOnACounterIsWokenWhenItIsSet) {
  using Clock = std::chrono::steady_clock;
  Node node(2);
  const auto long_time = std::chrono::seconds(20);
  const auto start = Clock::now();
  // Nothing to sleep for, if it has been reached already.
  node.lanes[1].publish(0, 5, 1);
  node.lanes[0].sleep(0, 1, 5, 1, long_time);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    node.lanes[1].publish(0, 5, 2);
  });
  while (!node.lanes[0].reached(0, 1, 5, 2)) node.lanes[0].sleep(0, 1, 5, 2, long_time);
  other.join();
  EXPECT_LT(Clock::now() - start, long_time / 2);
  // And not for longer than wanted.
  node.lanes[0].sleep(0, 1, 5, 3, std::chrono::milliseconds(1));
  EXPECT_LT(Clock::now() - start, long_time / 2);
}

TEST(Lanes, SlotsAreAlignedForEveryBasicType) {
  EXPECT_EQ(next_slot(0, 3), 16);
  EXPECT_EQ(next_slot(16, 0), 16);
  EXPECT_EQ(next_slot(16, 17), 48);
}

TEST(Segment, AnotherProcessOfTheMachineCanOpenItUntilTheDoorIsClosed) {
  Segment segment = Segment::create(4096);
  const Segment::Address address = segment.address();
  const auto child_sees = [&] {
    const pid_t child = fork();
    if (child == 0) {
      try {
        Segment::open(address, 4096).memory()[1000] = std::byte{42};
        _exit(0);
      } catch (const std::system_error&) {
        _exit(1);
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 0;
  };
  EXPECT_TRUE(child_sees());
  EXPECT_EQ(segment.memory()[1000], std::byte{42});
  segment.close_door();
  EXPECT_FALSE(child_sees());
}

TEST(Segment, WhatTheSystemRefusesIsAnError) {
  EXPECT_THROW(Segment::create(0), std::system_error);
  EXPECT_THROW(Segment::open({.process = getpid(), .descriptor = 9999}, 4096), std::system_error);
}

}  // namespace
}  // namespace quadrille::shared
