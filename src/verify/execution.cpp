#include "verify/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <initializer_list>
#include <stdexcept>
#include <tuple>

#include "run/text.hpp"
#include "schedule/hazards.hpp"

namespace quadrille::verify {

namespace {

struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class World;

// One rank of the run: where its operations are performed and its events recorded.
class Process final : public Backend, public Observer {
 public:
  Process(World& world, Rank rank, const Schedule& schedule, Keep keep);

  void start() { runner_->start(); }
  bool advance() { return runner_->advance(); }
  bool done() const { return runner_->done(); }
  const Unrolled& unrolled() const { return unrolled_; }
  std::string describe(Token token) const;
  std::string waiting() const;
  void finish_message(std::int32_t instance, std::int64_t step);
  bool finish_flushes();
  // The steps, -1 for what was not completed.
  std::vector<std::int64_t> final_steps(const std::vector<std::int64_t>& completed) const;
  std::int64_t ready_at(std::int32_t instance) const { return post_step_[static_cast<std::size_t>(instance)]; }
  // The step in which a counter of this rank reached a value; -1 if it has not.
  std::int64_t reached_at(std::int32_t counter, std::int64_t value) const;
  void raise(std::int32_t counter, std::int64_t value, std::int64_t step) {
    counters_[counter].push_back({value, step});
  }
  std::vector<std::int64_t> loop_lengths();

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

  std::vector<Held> load(Token token, const Piece& piece);
  void store(Token token, const Piece& piece, std::span<const Held> pieces);
  Contents& contents(Buffer buffer, std::int32_t block);
  void carry(Token token, const std::vector<Held>& data);

  std::vector<std::int64_t> posted_;
  std::vector<std::int64_t> completed_;
  std::vector<std::int64_t> done_step_;  // while it runs, of what is posted only as far as known
  std::vector<std::vector<Held>> carried_;
  std::map<std::pair<Buffer, std::int32_t>, Contents> memory_;

 private:
  void check_bounds(Token token, const Piece& piece);
  void check_operands(Token token, std::initializer_list<Piece> pieces, int count);
  void move(Token token, const Piece& source, const Piece& target);
  void take_step(Token token);

  World& world_;
  Rank rank_;
  Program program_;
  std::unique_ptr<Runner> runner_;
  Unrolled unrolled_;
  std::vector<Token> flushing_;
  std::vector<std::int64_t> post_step_;
  std::array<std::int64_t, 2> direction_step_ = {0, 0};
  std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> counters_;  // values with their steps
};

struct Half {
  Token token;
  std::vector<Piece> pieces;
  std::vector<Held> data;  // of a send
  std::int64_t units = 0;
};

class World {
 public:
  World(const Subject& subject, Expressions& expressions, Keep keep) : subject_(subject), expressions_(expressions) {
    for (std::size_t i = 0; i < subject.schedules.size(); ++i) {
      processes_.push_back(std::make_unique<Process>(*this, static_cast<Rank>(i), subject.schedules[i], keep));
    }
  }

  void run(Execution& result);
  void collect(Execution& result);

  const Subject& subject() const { return subject_; }
  Expressions& expressions() { return expressions_; }
  Process& process(Rank rank) { return *processes_[static_cast<std::size_t>(rank)]; }
  std::int64_t tick() { return clock_++; }
  void offer(Rank from, Rank to, std::int32_t channel, Half half, bool send);

 private:
  struct Stream {
    std::deque<Half> sends;
    std::deque<Half> receives;
  };
  void deliver(Rank from, Rank to, const Half& send, const Half& receive);
  std::string deadlock();
  // Runs advance over all ranks that may have something to do.
  bool sweep();

  const Subject& subject_;
  Expressions& expressions_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<std::tuple<Rank, Rank, std::int32_t>, Stream> streams_;
  struct Delivery {
    Rank from, to;
    Half send, receive;
  };
  std::vector<Delivery> deliveries_;
  std::vector<Matched> messages_;
  std::int64_t clock_ = 0;
};

Process::Process(World& world, Rank rank, const Schedule& schedule, Keep keep)
    : world_(world),
      rank_(rank),
      program_(schedule),
      runner_(std::make_unique<Runner>(program_, *this, Posting{.window = 1, .observer = this})),
      unrolled_(program_.schedule(), loop_lengths()) {
  const auto count = static_cast<std::size_t>(unrolled_.size());
  posted_.assign(count, -1);
  completed_.assign(count, -1);
  post_step_.assign(count, 0);
  done_step_.assign(count, 0);
  if (keep == Keep::data_too) carried_.resize(count);
}

std::vector<std::int64_t> Process::loop_lengths() {
  std::vector<std::int64_t> lengths;
  for (const Loop& loop : program_.schedule().loops) {
    lengths.push_back(
        loop.iterations_over(loop.chunk == 0 ? 0 : units(loop.over.buffer, loop.over.owner, loop.over.block)));
  }
  return lengths;
}

Contents& Process::contents(Buffer buffer, std::int32_t block) {
  const auto [place, fresh] = memory_.try_emplace({buffer, block});
  if (fresh) place->second = initial_contents(world_.subject(), world_.expressions(), rank_, buffer, block);
  return place->second;
}

std::string Process::describe(Token token) const {
  return fmt::format("rank {}: {}", rank_, to_text(program_.schedule(), token));
}

std::string Process::waiting() const {
  std::string text;
  runner_->for_each_in_flight([&](Token token) { text += "\n  " + describe(token); });
  return text;
}

std::int64_t Process::units(Buffer buffer, Rank owner, std::int32_t block) {
  const Rank of = owner == self ? rank_ : owner;
  const Schedule& schedule = world_.subject().schedules[static_cast<std::size_t>(of)];
  const auto listed = [&](const std::vector<std::int64_t>& blocks) {
    return block < static_cast<std::int32_t>(blocks.size()) ? blocks[static_cast<std::size_t>(block)] : -1;
  };
  if (buffer == Buffer::scratch) return listed(schedule.scratch);
  if (buffer == Buffer::slot) return listed(schedule.slots);
  return world_.subject().units(of, buffer, block);
}

void Process::check_bounds(Token token, const Piece& piece) {
  const std::int64_t size = units(piece.buffer, piece.owner, piece.block);
  const bool inside =
      piece.offset >= 0 && piece.length >= 0 && piece.offset <= size && piece.length <= size - piece.offset;
  if (!inside)
    throw Fault(
        fmt::format("{}: reaches outside its block of {} units", describe(token), std::max<std::int64_t>(size, 0)));
}

// Operands of local work have one length, and the target, the last, is apart from the others or is the right one.
void Process::check_operands(Token token, std::initializer_list<Piece> pieces, int count) {
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

std::vector<Held> Process::load(Token token, const Piece& piece) {
  check_bounds(token, piece);
  Process& owner = piece.owner == self ? *this : world_.process(piece.owner);
  auto data = owner.contents(piece.buffer, piece.block).read({piece.offset, piece.offset + piece.length});
  if (!data) throw Fault(fmt::format("{}: reads what nobody wrote", describe(token)));
  return *std::move(data);
}

void Process::store(Token token, const Piece& piece, std::span<const Held> pieces) {
  check_bounds(token, piece);
  if (piece.buffer == Buffer::input) throw Fault(fmt::format("{}: writes the caller's input", describe(token)));
  Process& owner = piece.owner == self ? *this : world_.process(piece.owner);
  owner.contents(piece.buffer, piece.block).write(piece.offset, pieces);
}

void Process::send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) {
  Half half{.token = token, .pieces = {data.begin(), data.end()}, .data = {}, .units = 0};
  for (const Piece& piece : data) {
    for (Held held : load(token, piece)) {
      held.range.begin += half.units;
      held.range.end += half.units;
      half.data.push_back(held);
    }
    half.units += piece.length;
  }
  carry(token, half.data);
  world_.offer(rank_, to, channel, std::move(half), true);
}

void Process::receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) {
  Half half{.token = token, .pieces = {data.begin(), data.end()}, .data = {}, .units = 0};
  Hazards apart;
  for (const Piece& piece : data) {
    check_bounds(token, piece);
    const Region block{.buffer = piece.buffer, .owner = piece.owner, .block = piece.block};
    apart.access(block, {piece.offset, piece.offset + piece.length}, true, 0, false,
                 [&](Hazards::Id) { throw Fault(describe(token) + ": receives twice into the same place"); });
    half.units += piece.length;
  }
  world_.offer(from, rank_, channel, std::move(half), false);
}

void Process::copy(Token token, const Piece& source, const Piece& target) {
  move(token, source, target);
  if (source.owner != self || target.owner != self) take_step(token);
}

void Process::move(Token token, const Piece& source, const Piece& target) {
  check_operands(token, {source, target}, 2);
  const std::vector<Held> data = load(token, source);
  store(token, target, data);
  carry(token, data);
}

void Process::take_step(Token token) {
  ++done_step_[static_cast<std::size_t>(unrolled_.instance(token))];
}

void Process::carry(Token token, const std::vector<Held>& data) {
  if (!carried_.empty()) carried_[static_cast<std::size_t>(unrolled_.instance(token))] = data;
}

void Process::reduce(Token token, const Piece& left, const Piece& right, const Piece& target) {
  check_operands(token, {left, right, target}, 3);
  const std::vector<Held> of_left = load(token, left);
  const std::vector<Held> of_right = load(token, right);
  std::vector<Held> result;
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
  if (left.owner != self || right.owner != self || target.owner != self) take_step(token);
}

void Process::publish(Token token, std::int32_t counter, std::int64_t value) {
  raise(counter, value, ready_at(unrolled_.instance(token)));
}

std::int64_t Process::reached_at(std::int32_t counter, std::int64_t value) const {
  if (value <= 0) return 0;
  const auto found = counters_.find(counter);
  if (found == counters_.end()) return -1;
  for (const auto& [reached, step] : found->second) {
    if (reached >= value) return step;
  }
  return -1;
}

bool Process::reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) {
  const std::int64_t step = (owner == self ? *this : world_.process(owner)).reached_at(counter, value);
  if (step < 0) return false;
  const auto instance = static_cast<std::size_t>(unrolled_.instance(token));
  done_step_[instance] = std::max(post_step_[instance], step);
  return true;
}

void Process::put(Token token, Rank, const Piece& source, const Piece& target) {
  move(token, source, target);
  take_step(token);
}

void Process::flush(Token token, Rank) {
  flushing_.push_back(token);
}

void Process::notify(Token token, Rank to, std::int32_t counter, std::int64_t value) {
  world_.process(to).raise(counter, value, ready_at(unrolled_.instance(token)));
}

void Process::posted(Token token) {
  const std::int32_t instance = unrolled_.instance(token);
  const auto at = static_cast<std::size_t>(instance);
  posted_[at] = world_.tick();
  std::int64_t step = 0;
  unrolled_.for_each_predecessor(instance, [&](std::int32_t before, bool posted_only) {
    step = std::max(step, (posted_only ? post_step_ : done_step_)[static_cast<std::size_t>(before)]);
    return true;
  });
  const Kind kind = unrolled_.operation(instance).kind;
  if (is_message(kind)) step = std::max(step, direction_step_[kind == Kind::send ? 0 : 1]);
  post_step_[at] = done_step_[at] = step;
}

void Process::completed(Token token) {
  completed_[static_cast<std::size_t>(unrolled_.instance(token))] = world_.tick();
}

void Process::finish_message(std::int32_t instance, std::int64_t step) {
  done_step_[static_cast<std::size_t>(instance)] = step;
  auto& direction = direction_step_[unrolled_.operation(instance).kind == Kind::send ? 0 : 1];
  direction = std::max(direction, step);
  runner_->complete(unrolled_.token(instance));
}

bool Process::finish_flushes() {
  const std::vector<Token> all = std::exchange(flushing_, {});
  for (Token token : all) runner_->complete(token);
  return !all.empty();
}

std::vector<std::int64_t> Process::final_steps(const std::vector<std::int64_t>& completed) const {
  std::vector<std::int64_t> steps = done_step_;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (completed[i] < 0) steps[i] = -1;
  }
  return steps;
}

void World::offer(Rank from, Rank to, std::int32_t channel, Half half, bool send) {
  Stream& stream = streams_[{from, to, channel}];
  (send ? stream.sends : stream.receives).push_back(std::move(half));
  while (!stream.sends.empty() && !stream.receives.empty()) {
    deliveries_.push_back({from, to, std::move(stream.sends.front()), std::move(stream.receives.front())});
    stream.sends.pop_front();
    stream.receives.pop_front();
  }
}

void World::deliver(Rank from, Rank to, const Half& send, const Half& receive) {
  Process& sender = process(from);
  Process& receiver = process(to);
  if (send.units != receive.units || send.pieces.empty() != receive.pieces.empty()) {
    throw Fault(fmt::format("{} meets {}: {} units sent, {} received", sender.describe(send.token),
                            receiver.describe(receive.token), send.units, receive.units));
  }
  Contents message;
  message.write(0, send.data);
  std::int64_t at = 0;
  for (const Piece& piece : receive.pieces) {
    receiver.store(receive.token, piece, *message.read({at, at + piece.length}));
    at += piece.length;
  }
  receiver.carry(receive.token, send.data);
  const std::int32_t sent = sender.unrolled().instance(send.token);
  const std::int32_t received = receiver.unrolled().instance(receive.token);
  const std::int64_t step = std::max(sender.ready_at(sent), receiver.ready_at(received)) + 1;
  messages_.push_back({from, to, sent, received, send.units, step});
  sender.finish_message(sent, step);
  receiver.finish_message(received, step);
}

bool World::sweep() {
  bool happened = false;
  for (auto& process : processes_) {
    happened |= process->advance();
    happened |= process->finish_flushes();
  }
  for (const Delivery& one : std::exchange(deliveries_, {})) {
    deliver(one.from, one.to, one.send, one.receive);
    happened = true;
  }
  return happened;
}

void World::run(Execution& result) {
  try {
    for (auto& process : processes_) process->start();
    while (sweep()) {
    }
    const bool done =
        std::all_of(processes_.begin(), processes_.end(), [](const auto& process) { return process->done(); });
    if (!done) throw Fault(deadlock());
    for (const auto& [key, stream] : streams_) {
      if (!stream.sends.empty() || !stream.receives.empty()) throw Fault("a message without its other end");
    }
  } catch (const Fault& fault) {
    result.fault = fault.what();
  }
}

std::string World::deadlock() {
  std::string text = "no rank can go on; waiting:";
  for (const auto& process : processes_) text += process->waiting();
  return text;
}

void World::collect(Execution& result) {
  result.messages = std::move(messages_);
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    result.posted.push_back(std::move(processes_[i]->posted_));
    result.completed.push_back(std::move(processes_[i]->completed_));
    result.memory.push_back(std::move(processes_[i]->memory_));
    result.done_step.push_back(processes_[i]->final_steps(result.completed.back()));
    result.carried.push_back(std::move(processes_[i]->carried_));
    for (std::int64_t step : result.done_step.back()) result.steps = std::max(result.steps, step);
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
  for (std::size_t i = 0; i < subject.schedules.size(); ++i) {
    result.ranks.emplace_back(subject.schedules[i], world.process(static_cast<Rank>(i)).loop_lengths());
  }
  world.run(result);
  world.collect(result);
  return result;
}

}  // namespace quadrille::verify
