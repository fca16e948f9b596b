#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "run/runner.hpp"

namespace quadrille::cost {

class World;

// One rank in virtual time. What it does takes a core, and so it does it in turns: from an event until it has nothing
// more to do.
class SimulatedRank final : public Backend {
 public:
  SimulatedRank(World& world, Rank rank, std::shared_ptr<const Program> program, std::int64_t window)
      : world_(world),
        rank_(rank),
        program_(std::move(program)),
        runner_(std::in_place, *program_, *this, Posting{.window = window}),
        counters_(static_cast<std::size_t>(schedule().counters)) {}

  // Does all that can be done at that time, and returns when it is done.
  double turn(double now);
  bool done() const { return !runner_; }
  double end() const { return clock_; }
  double free_at() const { return clock_; }
  const Schedule& schedule() const { return program_->schedule(); }

  // A message has been sent or received; the work for it is done in the next turn.
  void complete_at(double time, Token token, double work) { completed_.push_back({time, token, work}); }

  // Whether something is complete by that time.
  bool has_news(double time) const {
    return std::any_of(completed_.begin(), completed_.end(), [&](const Completed& one) { return one.time <= time; });
  }

  // A counter of this rank, as others see it at a time. Where it will have the value later, `later` is when.
  bool reached(std::int32_t counter, std::int64_t value, double time, double& later) const;
  // Has a rank woken when others see that value.
  void watch(Rank watcher, std::int32_t counter, std::int64_t value);
  // Whether a turn at that time is news to it; and it has come.
  bool expect_turn(double time);
  void turn_has_come(double time) { std::erase(turns_, time); }

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override;
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override;
  void copy(Token token, const Piece& source, const Piece& target) override;
  void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) override;
  void publish(Token token, std::int32_t counter, std::int64_t value) override;
  bool reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) override;
  void offload(Token token, std::span<const Piece> data) override;

 private:
  struct Completed {
    double time;
    Token token;
    double work;
  };
  struct Set {
    double seen;  // by others
    std::int64_t value;
  };
  struct Watcher {
    Rank rank;
    std::int32_t counter;
    std::int64_t value;

    friend bool operator==(const Watcher&, const Watcher&) = default;
  };

  std::int64_t bytes(std::span<const Piece> data) const;
  void raise(std::int32_t counter, std::int64_t value, double seen);

  World& world_;
  Rank rank_;
  std::shared_ptr<const Program> program_;
  std::optional<Runner> runner_;  // until it is done
  bool started_ = false;
  double clock_ = 0;
  std::vector<Completed> completed_;
  std::vector<std::vector<Set>> counters_;  // in the order they were set
  std::vector<Watcher> watchers_;
  std::vector<double> turns_;  // to come
  std::size_t offloaded_ = 0;  // collectives
};

}  // namespace quadrille::cost
