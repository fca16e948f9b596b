#include "run/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace quadrille {
namespace {

class Gate final : public Order::Gate {
 public:
  bool admits(const Ordered& one) override { return one.sequence() < admitted; }
  void ended_below(std::int64_t sequence) override { below = sequence; }

  std::int64_t admitted = 1 << 30;
  std::int64_t below = 0;
};

// Notes what happens to it.
class Collective final : public Ordered {
 public:
  Collective(Order& order, std::string name, std::vector<std::string>& log)
      : order_(order), name_(std::move(name)), log_(log) {}

  void reserve(std::int64_t bytes) {
    set_reserved(bytes);
    reserved = bytes;
  }
  void end(bool failed = false) { order_.end(*this, failed); }
  bool ends_at_once = false;
  bool throws = false;
  std::int64_t reserved = 0;

 private:
  void begin() override {
    log_.push_back("begin " + name_);
    if (throws) throw std::runtime_error("in the middle");
    if (ends_at_once) end();
  }
  void has_ended() override { log_.push_back("end " + name_); }
  void fail_like(const Ordered&) override { end(true); }

  Order& order_;
  std::string name_;
  std::vector<std::string>& log_;
};

class OrderTest : public testing::Test {
 protected:
  OrderTest() { order.set_limits(2, 0); }

  std::vector<std::string> log;
  Gate gate;
  Order order{gate};
  Collective a{order, "a", log};
  Collective b{order, "b", log};
  Collective c{order, "c", log};
  using Log = std::vector<std::string>;
};

TEST_F(OrderTest, BeginsInTheOrderOfStartsAndQueuesBeyondTheWindow) {
  for (Collective* one : {&a, &b, &c}) order.start(*one);
  EXPECT_EQ(log, (Log{"begin a", "begin b"}));
  EXPECT_EQ(c.state(), Ordered::State::queued);
  EXPECT_EQ(c.sequence(), 2);
  // The window counts from the oldest.
  b.end();
  EXPECT_EQ(log.back(), "end b");
  EXPECT_EQ(gate.below, 0);
  a.end();
  EXPECT_EQ(gate.below, 2);
  EXPECT_EQ(log, (Log{"begin a", "begin b", "end b", "end a", "begin c"}));
  c.end();
  EXPECT_EQ(order.oldest(), nullptr);
  EXPECT_EQ(gate.below, 3);
}

TEST_F(OrderTest, TheSameOneCanBeStartedAgain) {
  a.ends_at_once = true;
  for (int time = 0; time < 3; ++time) {
    order.start(a);
    EXPECT_TRUE(a.ended());
    EXPECT_EQ(a.sequence(), time);
  }
}

TEST_F(OrderTest, KeepsToTheMemoryAndTheOldestAlwaysHasRoom) {
  order.set_limits(10, 100);
  a.reserve(150);
  b.reserve(60);
  c.reserve(60);
  order.start(a);
  order.start(b);
  order.start(c);
  EXPECT_EQ(log, (Log{"begin a"}));
  a.end();
  EXPECT_EQ(log.back(), "begin b");
  b.end();
  EXPECT_EQ(log.back(), "begin c");
}

TEST_F(OrderTest, WaitsAtTheGateUntilItIsPumped) {
  gate.admitted = 1;
  order.start(a);
  order.start(b);
  EXPECT_EQ(log, (Log{"begin a"}));
  EXPECT_FALSE(order.pump());
  gate.admitted = 2;
  EXPECT_TRUE(order.pump());
  EXPECT_EQ(log.back(), "begin b");
}

TEST_F(OrderTest, WhatFollowsBeginsWhenTheOtherHasEndedWhateverElseIsDone) {
  order.set_limits(10, 0);
  order.start(a);
  order.start_after(b, a);
  order.start(c);
  EXPECT_EQ(b.state(), Ordered::State::waiting);
  EXPECT_EQ(b.follows(), &a);
  c.end();
  a.end();
  EXPECT_EQ(log, (Log{"begin a", "begin c", "end c", "end a", "begin b"}));
}

TEST_F(OrderTest, OneThatFollowsWhatIsOverBeginsAtOnce) {
  a.ends_at_once = true;
  order.start(a);
  order.start_after(b, a);
  EXPECT_EQ(log.back(), "begin b");
  EXPECT_EQ(Order::refusal_to_follow(a), "another collective follows this one already");
}

TEST_F(OrderTest, DeclaredOnesAreStartedAlongInEveryRun) {
  order.set_limits(10, 0);
  Order::declare(b, a);
  Order::declare(c, b);
  EXPECT_EQ(Order::refusal_to_declare(a, c), "a chain of collectives can't lead back to its beginning");
  EXPECT_EQ(Order::refusal_to_declare(a, a), "a chain of collectives can't lead back to its beginning");
  for (int time = 0; time < 2; ++time) {
    log.clear();
    order.start(a);
    EXPECT_EQ(c.sequence(), 3 * time + 2);
    a.end();
    b.end();
    c.end();
    EXPECT_EQ(log, (Log{"begin a", "end a", "begin b", "end b", "begin c", "end c"}));
  }
  Order::undeclare(b);
  EXPECT_EQ(a.declared(), nullptr);
  EXPECT_EQ(b.declared(), nullptr);
}

TEST_F(OrderTest, WhatFollowsOneThatFailsFailsToo) {
  order.set_limits(10, 0);
  order.start(a);
  order.start_after(b, a);
  order.start_after(c, b);
  a.end(true);
  EXPECT_EQ(log, (Log{"begin a", "end a", "end b", "end c"}));
  EXPECT_EQ(c.state(), Ordered::State::failed);
  EXPECT_EQ(order.oldest(), nullptr);
}

TEST_F(OrderTest, AnExceptionOutOfOneThatBeginsLeavesTheOthersGoing) {
  a.throws = true;
  EXPECT_THROW(order.start(a), std::runtime_error);
  order.start(b);
  EXPECT_EQ(log, (Log{"begin a", "begin b"}));
  a.end(true);
  b.end();
  order.start(c);
  EXPECT_EQ(log.back(), "begin c");
}

TEST_F(OrderTest, WhatIsStartedToFollowOneThatHasFailedFailsAtOnce) {
  order.start(a);
  a.end(true);
  order.start_after(b, a);
  EXPECT_EQ(log, (Log{"begin a", "end a", "end b"}));
  EXPECT_EQ(b.state(), Ordered::State::failed);
  EXPECT_EQ(gate.below, 2);
  order.start(c);
  EXPECT_EQ(log.back(), "begin c");
}

TEST_F(OrderTest, OnceItIsClosedNothingBeginsThatIsQueued) {
  order.set_limits(1, 0);
  order.start(a);
  order.start(b);
  order.close();
  a.end(true);
  EXPECT_EQ(log, (Log{"begin a", "end a"}));
  EXPECT_EQ(order.oldest(), &b);
  b.end(true);
  EXPECT_EQ(order.oldest(), nullptr);
}

// Any ends in any order: all begin once, in order of their numbers unless they follow others, within the limits.
TEST(Order, RandomStartsAndEndsKeepItsPromises) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    std::vector<std::string> log;
    Gate gate;
    Order order(gate);
    const int window = 1 + any(5);
    const std::int64_t memory = any(2) == 0 ? 0 : 100;
    order.set_limits(window, memory);
    std::vector<std::unique_ptr<Collective>> all;
    std::vector<Collective*> begun;
    std::vector<bool> follows;
    const auto expect_promises = [&] {
      std::int64_t reserved = 0;
      int holding = 0;
      bool queued = false;
      for (const auto& one : all) {
        // In order of their numbers: none has had its turn behind one that has not.
        const bool waits = one->state() == Ordered::State::queued;
        EXPECT_TRUE(!queued || waits || one->ended()) << one->sequence();
        queued |= waits;
        if (!one->in_flight() || waits) continue;
        reserved += one->reserved;
        holding += one->reserved > 0 ? 1 : 0;
        EXPECT_LT(one->sequence() - order.oldest()->sequence(), window);
      }
      EXPECT_TRUE(memory == 0 || holding <= 1 || reserved <= memory) << reserved;
    };
    const auto end_one = [&] {
      std::erase_if(begun, [](const Collective* one) { return one->ended(); });
      for (const auto& one : all) {
        if (one->state() == Ordered::State::begun && std::find(begun.begin(), begun.end(), one.get()) == begun.end()) {
          begun.push_back(one.get());
        }
      }
      if (begun.empty()) return false;
      EXPECT_LE(begun.size(), static_cast<std::size_t>(window));
      begun[static_cast<std::size_t>(any(static_cast<int>(begun.size())))]->end();
      return true;
    };
    for (int i = 0; i < 50; ++i) {
      all.push_back(std::make_unique<Collective>(order, std::to_string(i), log));
      all.back()->reserve(any(120));
      Collective* const earlier = i > 0 ? all[static_cast<std::size_t>(any(i))].get() : nullptr;
      if (earlier && any(3) == 0 && Order::refusal_to_follow(*earlier).empty()) {
        follows.push_back(true);
        order.start_after(*all.back(), *earlier);
      } else {
        follows.push_back(false);
        order.start(*all.back());
      }
      expect_promises();
      EXPECT_EQ(all.back()->sequence(), i);
      if (any(2) == 0) end_one();
    }
    for (int i = 0; i < 100; ++i) {
      end_one();
      expect_promises();
    }
    int latest = -1;
    for (const std::string& line : log) {
      if (line.substr(0, 6) != "begin ") continue;
      const int number = std::stoi(line.substr(6));
      if (follows[static_cast<std::size_t>(number)]) continue;
      EXPECT_GT(number, latest);
      latest = number;
    }
    EXPECT_EQ(order.oldest(), nullptr);
    EXPECT_EQ(gate.below, 50);
    EXPECT_EQ(log.size(), 100U);
    EXPECT_EQ(std::set(log.begin(), log.end()).size(), 100U);
  }
}

}  // namespace
}  // namespace quadrille
