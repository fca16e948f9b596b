#include "verify/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "run/runner.hpp"
#include "run/text.hpp"
#include "schedule/hazards.hpp"

namespace quadrille::verify {

namespace {

struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class World;

// A message posted by one end. Each rank has at most one in each direction.
struct Half {
  bool open = false;
  Rank peer = 0;
  std::int32_t channel = 0;
  Token token = {};
  std::vector<Piece> pieces;
  std::vector<Held> data;  // of a send
  std::int64_t units = 0;

  void begin(Token of, Rank with, std::int32_t on, std::span<const Piece> parts) {
    open = true;
    peer = with;
    channel = on;
    token = of;
    pieces.assign(parts.begin(), parts.end());
    data.clear();
    units = 0;
  }
};

// One rank of the run: performs its operations and records their events.
class SymbolicRank final : public Backend, public Observer {
 public:
  SymbolicRank(World& world, Rank rank, const Schedule& schedule, Keep keep);

  void start() { runner_.start(); }
  // Advances as far as possible without other ranks.
  void advance();
  bool done() const { return runner_.done(); }
  Half& sending() { return sending_; }
  Half& receiving() { return receiving_; }
  const Event& event(Token token) const { return events_[static_cast<std::size_t>(unrolled_.instance(token))]; }
  std::int32_t instance(Token token) const { return unrolled_.instance(token); }
  std::string describe(Token token) const;
  std::string waiting() const;
  void finish_message(Half& half, std::int64_t step);
  // The step in which a counter of this rank reached a value; -1 if not yet.
  std::int64_t reached_at(std::int32_t counter, std::int64_t value) const;
  void raise(std::int32_t counter, std::int64_t value, std::int64_t step);
  void collect(Execution& result);

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override;
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override;
  void copy(Token token, const Piece& source, const Piece& target) override;
  void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) override;
  void publish(Token token, std::int32_t counter, std::int64_t value) override;
  bool reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) override;
  void put(Token token, Rank to, const Piece& source, const Piece& target) override;
  void flush(Token token, Rank to) override;
  void notify(Token token, Rank to, std::int32_t counter, std::int64_t value) override;

  void posted(Token token) override;
  void completed(Token token) override;

  void store(Token token, const Piece& piece, std::span<const Held> pieces);
  void carry(Token token, std::span<const Held> data);

 private:
  std::vector<std::int64_t> loop_lengths();
  Event& event_of(Token token) { return events_[static_cast<std::size_t>(unrolled_.instance(token))]; }
  Memory::Block& block(Buffer buffer, std::int32_t number);
  Memory::Block& block_of(const Piece& piece);
  // Appends the piece's data, its first unit at offset `at`.
  void load(Token token, const Piece& piece, std::int64_t at, std::vector<Held>& into);
  Memory::Block& check_bounds(Token token, const Piece& piece);
  void check_operands(Token token, std::initializer_list<Piece> pieces, int count);
  void check_apart(Token token, std::span<const Piece> pieces) const;
  void move(Token token, const Piece& source, const Piece& target);
  bool finish_flushes();

  World& world_;
  Rank rank_;
  Program program_;
  Runner runner_;
  Unrolled unrolled_;
  std::vector<Event> events_;
  std::vector<std::vector<Held>> carried_;
  Memory memory_;
  Half sending_;
  Half receiving_;
  std::vector<Token> flushing_;
  std::array<std::int64_t, 2> direction_step_ = {0, 0};
  std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> counters_;  // values with their steps
};

class World {
 public:
  World(const Subject& subject, Expressions& expressions, Keep keep) : subject_(subject), expressions_(expressions) {
    for (std::size_t i = 0; i < subject.schedules.size(); ++i) {
      ranks_.push_back(std::make_unique<SymbolicRank>(*this, static_cast<Rank>(i), subject.schedules[i], keep));
    }
    awake_.resize(ranks_.size(), false);
  }

  void run(Execution& result);
  void collect(Execution& result);

  const Subject& subject() const { return subject_; }
  Expressions& expressions() { return expressions_; }
  SymbolicRank& at(Rank rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  std::int64_t tick() { return clock_++; }
  // Units of a block; -1 if the rank has no such block.
  std::int64_t units(Rank rank, Buffer buffer, std::int32_t block) const;
  // Ranks that wait for a counter are woken when one is set.
  void watch(Rank rank) { watching_.push_back(rank); }
  void counter_set();

  // Operands of the current operation.
  struct Operands {
    std::vector<Held> left, right, result;
  };
  Operands& operands() { return operands_; }

 private:
  // Delivers the message if both ends have posted it.
  void match(Rank from, Rank to);
  void deliver(SymbolicRank& sender, SymbolicRank& receiver);
  void wake(Rank rank);
  std::string deadlock();

  const Subject& subject_;
  Expressions& expressions_;
  std::vector<std::unique_ptr<SymbolicRank>> ranks_;
  // Ranks that may be able to advance, last in first out, a sender before its receiver: so a pair exchanges all
  // possible messages while it is in the cache, before the receiver forwards them.
  std::vector<Rank> stack_;
  std::vector<bool> awake_;
  std::vector<Rank> watching_;
  std::vector<Matched> messages_;
  Operands operands_;
  std::int64_t clock_ = 0;
};

SymbolicRank::SymbolicRank(World& world, Rank rank, const Schedule& schedule, Keep keep)
    : world_(world),
      rank_(rank),
      program_(Program::over(schedule)),
      runner_(program_, *this, Posting{.window = 1, .observer = this}),
      unrolled_(schedule, loop_lengths()) {
  const auto count = static_cast<std::size_t>(unrolled_.size());
  events_.resize(count);
  if (keep == Keep::data_too) carried_.resize(count);
}

std::vector<std::int64_t> SymbolicRank::loop_lengths() {
  std::vector<std::int64_t> lengths;
  for (const Loop& loop : program_.schedule().loops) {
    const Rank owner = loop.over.owner == self ? rank_ : loop.over.owner;
    lengths.push_back(
        loop.iterations_over(loop.chunk == 0 ? 0 : world_.units(owner, loop.over.buffer, loop.over.block)));
  }
  return lengths;
}

void SymbolicRank::advance() {
  do {
    while (runner_.advance()) {
    }
  } while (finish_flushes());
}

Memory::Block& SymbolicRank::block(Buffer buffer, std::int32_t number) {
  return memory_.touch(buffer, number, [&]() -> Memory::Block {
    const std::int64_t size = world_.units(rank_, buffer, number);
    if (size <= 0) return {size, {}};
    return {size, initial_contents(world_.subject(), world_.expressions(), rank_, buffer, number)};
  });
}

Memory::Block& SymbolicRank::block_of(const Piece& piece) {
  return (piece.owner == self ? *this : world_.at(piece.owner)).block(piece.buffer, piece.block);
}

std::string SymbolicRank::describe(Token token) const {
  return fmt::format("rank {}: {}", rank_, to_text(program_.schedule(), token));
}

std::string SymbolicRank::waiting() const {
  std::string text;
  runner_.for_each_in_flight([&](Token token) { text += "\n  " + describe(token); });
  return text;
}

std::int64_t SymbolicRank::units(Buffer buffer, Rank owner, std::int32_t block) {
  return block_of({.buffer = buffer, .owner = owner, .block = block}).units;
}

Memory::Block& SymbolicRank::check_bounds(Token token, const Piece& piece) {
  Memory::Block& block = block_of(piece);
  const bool inside = piece.offset >= 0 && piece.length >= 0 && piece.offset <= block.units &&
                      piece.length <= block.units - piece.offset;
  if (!inside)
    throw Fault(fmt::format("{}: accesses memory outside its block of {} units", describe(token),
                            std::max<std::int64_t>(block.units, 0)));
  return block;
}

// Operands of a local operation have equal lengths, and the target, the last, is disjoint from the others or is the
// right operand.
void SymbolicRank::check_operands(Token token, std::initializer_list<Piece> pieces, int count) {
  const Piece& target = pieces.begin()[count - 1];
  check_bounds(token, target);
  for (int i = 0; i + 1 < count; ++i) {
    const Piece& operand = pieces.begin()[i];
    if (operand.length != target.length) throw Fault(describe(token) + ": operands differ in length");
    const bool same_block =
        operand.buffer == target.buffer && operand.owner == target.owner && operand.block == target.block;
    const bool onto_right = count == 3 && i == 1 && operand.offset == target.offset;
    const bool apart =
        operand.offset + operand.length <= target.offset || target.offset + target.length <= operand.offset;
    if (same_block && !onto_right && !apart && target.length > 0) throw Fault(describe(token) + ": operands overlap");
  }
}

void SymbolicRank::load(Token token, const Piece& piece, std::int64_t at, std::vector<Held>& into) {
  const Memory::Block& block = check_bounds(token, piece);
  if (!read(block.contents.pieces(), {piece.offset, piece.offset + piece.length}, at, into))
    throw Fault(fmt::format("{}: reads data that was never written", describe(token)));
}

void SymbolicRank::store(Token token, const Piece& piece, std::span<const Held> pieces) {
  Memory::Block& block = check_bounds(token, piece);
  if (piece.buffer == Buffer::input) throw Fault(fmt::format("{}: writes the caller's input", describe(token)));
  block.contents.write(piece.offset, pieces);
}

void SymbolicRank::send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) {
  sending_.begin(token, to, channel, data);
  for (const Piece& piece : data) {
    load(token, piece, sending_.units, sending_.data);
    sending_.units += piece.length;
  }
  carry(token, sending_.data);
}

void SymbolicRank::receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) {
  receiving_.begin(token, from, channel, data);
  for (const Piece& piece : data) {
    check_bounds(token, piece);
    receiving_.units += piece.length;
  }
  if (data.size() > 1) check_apart(token, data);
}

void SymbolicRank::check_apart(Token token, std::span<const Piece> pieces) const {
  Hazards apart;
  for (const Piece& piece : pieces) {
    const Region block{.buffer = piece.buffer, .owner = piece.owner, .block = piece.block};
    apart.access(block, {piece.offset, piece.offset + piece.length}, true, 0, false,
                 [&](Hazards::Id) { throw Fault(describe(token) + ": receives twice into the same memory"); });
  }
}

void SymbolicRank::copy(Token token, const Piece& source, const Piece& target) {
  move(token, source, target);
  if (source.owner != self || target.owner != self) ++event_of(token).done_step;
}

void SymbolicRank::move(Token token, const Piece& source, const Piece& target) {
  check_operands(token, {source, target}, 2);
  std::vector<Held>& data = world_.operands().result;
  data.clear();
  load(token, source, 0, data);
  store(token, target, data);
  carry(token, data);
}

void SymbolicRank::carry(Token token, std::span<const Held> data) {
  if (!carried_.empty()) carried_[static_cast<std::size_t>(unrolled_.instance(token))].assign(data.begin(), data.end());
}

void SymbolicRank::reduce(Token token, const Piece& left, const Piece& right, const Piece& target) {
  check_operands(token, {left, right, target}, 3);
  auto& [of_left, of_right, result] = world_.operands();
  for (auto* operand : {&of_left, &of_right, &result}) operand->clear();
  load(token, left, 0, of_left);
  load(token, right, 0, of_right);
  auto l = of_left.begin();
  auto r = of_right.begin();
  for (std::int64_t at = 0; at < target.length;) {
    const std::int64_t end = std::min(l->range.end, r->range.end);
    const auto value_at = [&](const Held& held) {
      return Value{held.value.expression, held.value.offset + at - held.range.begin};
    };
    result.push_back({{at, end}, world_.expressions().combine(value_at(*l), value_at(*r))});
    if (l->range.end == end) ++l;
    if (r->range.end == end) ++r;
    at = end;
  }
  store(token, target, result);
  carry(token, left.owner != self ? of_left : of_right);
  if (left.owner != self || right.owner != self || target.owner != self) ++event_of(token).done_step;
}

void SymbolicRank::publish(Token token, std::int32_t counter, std::int64_t value) {
  raise(counter, value, event(token).ready_step);
}

void SymbolicRank::raise(std::int32_t counter, std::int64_t value, std::int64_t step) {
  counters_[counter].push_back({value, step});
  world_.counter_set();
}

std::int64_t SymbolicRank::reached_at(std::int32_t counter, std::int64_t value) const {
  if (value <= 0) return 0;
  const auto found = counters_.find(counter);
  if (found == counters_.end()) return -1;
  for (const auto& [reached, step] : found->second) {
    if (reached >= value) return step;
  }
  return -1;
}

bool SymbolicRank::reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) {
  const std::int64_t step = (owner == self ? *this : world_.at(owner)).reached_at(counter, value);
  if (step < 0) {
    world_.watch(rank_);
    return false;
  }
  Event& event = event_of(token);
  event.done_step = std::max(event.ready_step, step);
  return true;
}

void SymbolicRank::put(Token token, Rank, const Piece& source, const Piece& target) {
  move(token, source, target);
  ++event_of(token).done_step;
}

void SymbolicRank::flush(Token token, Rank) {
  flushing_.push_back(token);
}

void SymbolicRank::notify(Token token, Rank to, std::int32_t counter, std::int64_t value) {
  world_.at(to).raise(counter, value, event(token).ready_step);
}

void SymbolicRank::posted(Token token) {
  const std::int32_t instance = unrolled_.instance(token);
  std::int64_t step = 0;
  unrolled_.for_each_predecessor(instance, [&](std::int32_t before, bool posted_only) {
    const Event& earlier = events_[static_cast<std::size_t>(before)];
    step = std::max(step, posted_only ? earlier.ready_step : earlier.done_step);
    return true;
  });
  const Kind kind = program_.operation(token.operation).kind;
  if (is_message(kind)) step = std::max(step, direction_step_[kind == Kind::send ? 0 : 1]);
  events_[static_cast<std::size_t>(instance)] = {world_.tick(), -1, step, step};
}

void SymbolicRank::completed(Token token) {
  event_of(token).completed = world_.tick();
}

void SymbolicRank::finish_message(Half& half, std::int64_t step) {
  half.open = false;
  event_of(half.token).done_step = step;
  auto& direction = direction_step_[&half == &sending_ ? 0 : 1];
  direction = std::max(direction, step);
  runner_.complete(half.token);
}

bool SymbolicRank::finish_flushes() {
  const bool any = !flushing_.empty();
  for (Token token : flushing_) runner_.complete(token);
  flushing_.clear();
  return any;
}

void SymbolicRank::collect(Execution& result) {
  for (const Event& event : events_) {
    if (event.completed >= 0) result.steps = std::max(result.steps, event.done_step);
  }
  result.ranks.push_back(std::move(unrolled_));
  result.events.push_back(std::move(events_));
  result.memory.push_back(std::move(memory_));
  result.carried.push_back(std::move(carried_));
}

std::int64_t World::units(Rank rank, Buffer buffer, std::int32_t block) const {
  const Schedule& schedule = subject_.schedules[static_cast<std::size_t>(rank)];
  const auto listed = [&](const std::vector<std::int64_t>& blocks) {
    return block < static_cast<std::int32_t>(blocks.size()) ? blocks[static_cast<std::size_t>(block)] : -1;
  };
  if (buffer == Buffer::scratch) return listed(schedule.scratch);
  if (buffer == Buffer::slot) return listed(schedule.slots);
  return subject_.units(rank, buffer, block);
}

void World::match(Rank from, Rank to) {
  SymbolicRank& sender = at(from);
  SymbolicRank& receiver = at(to);
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

void World::counter_set() {
  for (Rank rank : watching_) wake(rank);
  watching_.clear();
}

void World::deliver(SymbolicRank& sender, SymbolicRank& receiver) {
  Half& send = sender.sending();
  Half& receive = receiver.receiving();
  if (send.units != receive.units || send.pieces.empty() != receive.pieces.empty()) {
    throw Fault(fmt::format("{} meets {}: {} units sent, {} received", sender.describe(send.token),
                            receiver.describe(receive.token), send.units, receive.units));
  }
  std::vector<Held>& part = operands_.result;
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

void World::run(Execution& result) {
  try {
    for (auto& one : ranks_) one->start();
    for (std::size_t i = ranks_.size(); i-- > 0;) wake(static_cast<Rank>(i));
    while (!stack_.empty()) {
      const Rank rank = stack_.back();
      stack_.pop_back();
      if (!awake_[static_cast<std::size_t>(rank)]) continue;
      awake_[static_cast<std::size_t>(rank)] = false;
      SymbolicRank& one = at(rank);
      one.advance();
      if (one.sending().open) match(rank, one.sending().peer);
      if (one.receiving().open) match(one.receiving().peer, rank);
    }
    const bool done = std::all_of(ranks_.begin(), ranks_.end(), [](const auto& one) { return one->done(); });
    if (!done) throw Fault(deadlock());
  } catch (const Fault& fault) {
    result.fault = fault.what();
  }
}

std::string World::deadlock() {
  std::string text = "deadlock; waiting:";
  for (const auto& one : ranks_) text += one->waiting();
  return text;
}

void World::collect(Execution& result) {
  result.messages = std::move(messages_);
  for (auto& one : ranks_) {
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

Execution execute(const Subject& subject, Expressions& expressions, Keep keep) {
  Execution result;
  World world(subject, expressions, keep);
  world.run(result);
  world.collect(result);
  return result;
}

}  // namespace quadrille::verify
