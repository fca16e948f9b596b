#include "cost/simulated_rank.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cost/simulated_world.hpp"

namespace quadrille::cost {

double SimulatedRank::turn(double now) {
  clock_ = now;
  if (!std::exchange(started_, true)) {
    clock_ += world_.model().call;
    runner_->start();
  }
  for (std::size_t i = 0; i < completed_.size();) {
    if (completed_[i].time > now) {
      ++i;
      continue;
    }
    const Completed one = completed_[i];
    completed_.erase(completed_.begin() + static_cast<std::ptrdiff_t>(i));
    clock_ += one.work;
    runner_->complete(one.token);
  }
  while (!runner_->done() && runner_->advance()) {
  }
  if (runner_->done()) runner_.reset();
  return clock_;
}

std::int64_t SimulatedRank::bytes(std::span<const Piece> data) const {
  std::int64_t units = 0;
  for (const Piece& piece : data) units += piece.length;
  return schedule().unit == Unit::bytes ? units : units * world_.element_bytes();
}

std::int64_t SimulatedRank::units(Buffer buffer, Rank owner, std::int32_t block) {
  if (buffer == Buffer::scratch) return schedule().scratch[static_cast<std::size_t>(block)];
  if (buffer == Buffer::slot) return schedule().slots[static_cast<std::size_t>(block)];
  return world_.units(owner == self ? rank_ : world_.peer(rank_, owner), buffer, block);
}

void SimulatedRank::send(Token token, Rank number, std::int32_t channel, std::span<const Piece> data) {
  const Rank to = world_.peer(rank_, number);
  const Link& link = world_.link(rank_, to);
  const std::int64_t size = bytes(data);
  clock_ += world_.model().operation + link.overhead;
  if (size <= link.eager || link.wire > 0) clock_ += static_cast<double>(size) * link.work;
  world_.post_send(rank_, to, channel, token, size, clock_);
}

void SimulatedRank::receive(Token token, Rank number, std::int32_t channel, std::span<const Piece>) {
  clock_ += world_.model().operation;
  world_.post_receive(world_.peer(rank_, number), rank_, channel, token, clock_);
}

void SimulatedRank::copy(Token, const Piece& source, const Piece&) {
  clock_ += world_.model().operation + static_cast<double>(bytes({&source, 1})) * world_.model().copy;
}

void SimulatedRank::reduce(Token, const Piece& left, const Piece&, const Piece&) {
  clock_ += world_.model().operation + static_cast<double>(bytes({&left, 1})) * world_.model().reduce;
}

void SimulatedRank::offload(Token token, std::span<const Piece> data) {
  clock_ += world_.model().operation;
  world_.post_offload(rank_, token, offloaded_++, bytes(data), clock_);
}

void SimulatedRank::raise(std::int32_t counter, std::int64_t value, double seen) {
  counters_[static_cast<std::size_t>(counter)].push_back({seen, value});
  std::erase_if(watchers_, [&](const Watcher& one) {
    if (one.counter != counter || one.value > value) return false;
    world_.wake_sleeper(seen, one.rank);
    return true;
  });
}

void SimulatedRank::publish(Token, std::int32_t counter, std::int64_t value) {
  clock_ += world_.model().operation;
  raise(counter, value, clock_ + world_.model().flag);
}

bool SimulatedRank::reached(std::int32_t counter, std::int64_t value, double time, double& later) const {
  for (const Set& set : counters_[static_cast<std::size_t>(counter)]) {
    if (set.value < value) continue;
    later = set.seen;
    return set.seen <= time;
  }
  later = -1;
  return false;
}

void SimulatedRank::watch(Rank watcher, std::int32_t counter, std::int64_t value) {
  const Watcher one{watcher, counter, value};
  if (std::find(watchers_.begin(), watchers_.end(), one) == watchers_.end()) watchers_.push_back(one);
}

bool SimulatedRank::expect_turn(double time) {
  if (std::find(turns_.begin(), turns_.end(), time) != turns_.end()) return false;
  turns_.push_back(time);
  return true;
}

bool SimulatedRank::reached(Token, Rank owner, std::int32_t counter, std::int64_t value) {
  if (value <= 0) return true;
  SimulatedRank& of = owner == self ? *this : world_.at(world_.peer(rank_, owner));
  double later = -1;
  if (of.reached(counter, value, clock_, later)) return true;
  if (later >= 0) {
    world_.wake_sleeper(later, rank_);
  } else {
    of.watch(rank_, counter, value);
  }
  return false;
}

}  // namespace quadrille::cost
