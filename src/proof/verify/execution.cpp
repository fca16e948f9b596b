#include "verify/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "verify/symbolic_rank.hpp"

namespace quadrille::verify {

namespace {

// All ranks, and who advances next.
class World {
 public:
  World(const Subject& subject, Expressions& expressions, Keep keep) : common_{subject, expressions} {
    for (std::size_t i = 0; i < subject.schedules.size(); ++i) {
      common_.ranks.push_back(
          std::make_unique<SymbolicRank>(common_, static_cast<Rank>(i), subject.schedules[i], keep));
    }
    awake_.resize(common_.ranks.size(), false);
    common_.watching.resize(common_.ranks.size());
    common_.signals = std::all_of(subject.schedules.begin(), subject.schedules.end(),
                                  [](const Schedule& schedule) { return schedule.only_notifies(); });
  }

  void run(Execution& result);
  void collect(Execution& result);

 private:
  // Delivers the message if both ends have posted it.
  void match(Rank from, Rank to);
  void deliver(SymbolicRank& sender, SymbolicRank& receiver);
  // Performs the oldest collective of the MPI's own that a rank has posted, if all its ranks have.
  bool offload(Rank rank);
  void wake(Rank rank);
  void wake_watching();
  std::string deadlock();

  Common common_;
  // Ranks that may be able to advance, last in first out, a sender before its receiver: so a pair exchanges all
  // possible messages while it is in the cache, before the receiver forwards them.
  std::vector<Rank> stack_;
  std::vector<bool> awake_;
  std::vector<Matched> messages_;
  std::vector<Together> offloads_;
};

void World::match(Rank from, Rank to) {
  SymbolicRank& sender = common_.at(from);
  SymbolicRank& receiver = common_.at(to);
  const Half& send = sender.sending();
  const Half& receive = receiver.receiving();
  const bool both = send.open && receive.open;
  if (!both || send.peer != to || receive.peer != from || send.channel != receive.channel) return;
  deliver(sender, receiver);
  wake(to);
  wake(from);
}

void World::wake(Rank rank) {
  awake_[static_cast<std::size_t>(rank)] = true;
  stack_.push_back(rank);
}

void World::wake_watching() {
  for (const Rank owner : common_.with_counters_set) {
    auto& watching = common_.watching[static_cast<std::size_t>(owner)];
    for (const Rank rank : watching) wake(rank);
    watching.clear();
  }
  common_.with_counters_set.clear();
}

void World::deliver(SymbolicRank& sender, SymbolicRank& receiver) {
  Half& send = sender.sending();
  Half& receive = receiver.receiving();
  if (send.units != receive.units || send.pieces.empty() != receive.pieces.empty()) {
    throw Fault(fmt::format("{} meets {}: {} units sent, {} received", sender.describe(send.token),
                            receiver.describe(receive.token), send.units, receive.units));
  }
  std::vector<Held>& part = common_.operands.result;
  std::int64_t at = 0;
  for (const Piece& piece : receive.pieces) {
    part.clear();
    read(send.data, {at, at + piece.length}, 0, part);
    receiver.store(receive.token, piece, part);
    at += piece.length;
  }
  receiver.carry(receive.token, send.data);
  const std::int64_t step = std::max(sender.event(send.token).ready_step, receiver.event(receive.token).ready_step) + 1;
  messages_.push_back(
      {receive.peer, send.peer, sender.instance(send.token), receiver.instance(receive.token), send.units, step});
  sender.finish_message(send, step);
  receiver.finish_message(receive, step);
}

bool World::offload(Rank rank) {
  const std::vector<Rank>& group = common_.at(rank).schedule().offload;
  const auto first = [&](Rank one) -> const Offloaded& { return common_.at(one).offloading().front(); };
  const bool all =
      std::none_of(group.begin(), group.end(), [&](Rank one) { return common_.at(one).offloading().empty(); });
  if (!all) return false;
  const auto units = [](const Offloaded& one) { return one.pieces.empty() ? -1 : one.pieces.front().length; };
  const std::int64_t expected = units(first(group.front()));
  auto& [left, right, result] = common_.operands;
  Together together;
  std::int64_t step = 0;
  for (Rank one : group) {
    SymbolicRank& of = common_.at(one);
    if (units(first(one)) != expected) {
      throw Fault(fmt::format("{} meets {}: they differ in length",
                              common_.at(group.front()).describe(first(group.front()).token),
                              of.describe(first(one).token)));
    }
    of.contribution(first(one), one == group.front() ? result : right);
    if (one != group.front()) {
      left = result;
      common_.combine(expected);
    }
    step = std::max(step, of.event(first(one).token).ready_step + 1);
    together.instances.emplace_back(one, of.instance(first(one).token));
  }
  offloads_.push_back(std::move(together));
  const std::vector<Held> reduced = result;
  for (Rank one : group) {
    common_.at(one).finish_offload(reduced, step);
    wake(one);
  }
  return true;
}

void World::run(Execution& result) {
  try {
    for (auto& one : common_.ranks) one->start();
    // One-sided, whoever is ready first is served first: all of them are, so that steps mean something.
    common_.opening = true;
    for (auto& one : common_.ranks) {
      if (one->schedule().one_sided()) one->advance();
    }
    common_.opening = false;
    for (std::size_t i = common_.ranks.size(); i-- > 0;) wake(static_cast<Rank>(i));
    while (!stack_.empty()) {
      const Rank rank = stack_.back();
      stack_.pop_back();
      if (!awake_[static_cast<std::size_t>(rank)]) continue;
      awake_[static_cast<std::size_t>(rank)] = false;
      SymbolicRank& one = common_.at(rank);
      one.advance();
      wake_watching();
      if (one.sending().open) match(rank, one.sending().peer);
      if (one.receiving().open) match(one.receiving().peer, rank);
      while (!one.offloading().empty() && offload(rank)) {
      }
    }
    const bool done =
        std::all_of(common_.ranks.begin(), common_.ranks.end(), [](const auto& one) { return one->done(); });
    if (!done) throw Fault(deadlock());
  } catch (const Fault& fault) {
    result.fault = fault.what();
  }
}

std::string World::deadlock() {
  std::string text = "deadlock; waiting:";
  for (const auto& one : common_.ranks) text += one->waiting();
  return text;
}

void World::collect(Execution& result) {
  result.messages = std::move(messages_);
  result.offloads = std::move(offloads_);
  result.written = std::move(common_.written);
  for (auto& one : common_.ranks) {
    one->collect(result);
    one.reset();
  }
}

}  // namespace

Contents initial_contents(const Subject& subject, Expressions& expressions, Rank rank, Buffer buffer,
                          std::int32_t block) {
  Contents contents;
  const bool callers = buffer == Buffer::input || buffer == Buffer::output;
  if (!callers || !subject.given(rank, buffer, block)) return contents;
  const Held all{{0, subject.units(rank, buffer, block)}, {expressions.leaf(rank, buffer, block), 0}};
  if (!all.range.empty()) contents.write(0, {&all, 1});
  return contents;
}

bool only_notifies(const Execution& execution) {
  return std::all_of(execution.ranks.begin(), execution.ranks.end(),
                     [](const Unrolled& rank) { return rank.schedule().only_notifies(); });
}

std::vector<Matched> transfers(const Execution& execution) {
  std::vector<Matched> all = execution.messages;
  const bool signals = only_notifies(execution);
  for (std::size_t id = 0; id < execution.ranks.size(); ++id) {
    const Unrolled& rank = execution.ranks[id];
    if (!rank.schedule().one_sided()) continue;
    for (std::int32_t instance = 0; instance < rank.size(); ++instance) {
      const Operation& operation = rank.operation(instance);
      const bool pulls = operation.kind == Kind::get;
      const bool pushes = operation.kind == Kind::put || operation.kind == Kind::deposit;
      if (!pushes && !pulls && !(signals && operation.kind == Kind::notify)) continue;
      const auto own = static_cast<Rank>(id);
      all.push_back({.from = pulls ? operation.peer : own,
                     .to = pulls ? own : operation.peer,
                     .send = instance,
                     .receive = -1,
                     .units = signals ? 0 : rank.schedule().regions_of(operation)[0].length,
                     .step = execution.events[id][static_cast<std::size_t>(instance)].done_step});
    }
  }
  return all;
}

Execution execute(const Subject& subject, Expressions& expressions, Keep keep) {
  Execution result;
  World world(subject, expressions, keep);
  world.run(result);
  world.collect(result);
  return result;
}

}  // namespace quadrille::verify
