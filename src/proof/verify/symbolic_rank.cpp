#include "verify/symbolic_rank.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/text.hpp"
#include "schedule/hazards.hpp"

namespace quadrille::verify {

std::int64_t Common::units(Rank rank, Buffer buffer, std::int32_t block) const {
  const Schedule& schedule = subject.schedules[static_cast<std::size_t>(rank)];
  const auto listed = [&](const std::vector<std::int64_t>& blocks) {
    return block < static_cast<std::int32_t>(blocks.size()) ? blocks[static_cast<std::size_t>(block)] : -1;
  };
  if (buffer == Buffer::scratch) return listed(schedule.scratch);
  if (buffer == Buffer::slot) return listed(schedule.slots);
  if (buffer == Buffer::box) return listed(schedule.boxes);
  if (buffer == Buffer::staging) return staging_places * listed(schedule.staging);
  return subject.units(rank, buffer, block);
}

SymbolicRank::SymbolicRank(Common& common, Rank rank, const Schedule& schedule, Keep keep)
    : common_(common),
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
        loop.iterations_over(loop.chunk == 0 ? 0 : common_.units(owner, loop.over.buffer, loop.over.block)));
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
    const std::int64_t size = common_.units(rank_, buffer, number);
    if (size <= 0) return {size, {}};
    return {size, initial_contents(common_.subject, common_.expressions, rank_, buffer, number)};
  });
}

Memory::Block& SymbolicRank::block_of(const Piece& piece) {
  return (piece.owner == self ? *this : common_.at(piece.owner)).block(piece.buffer, piece.block);
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
  if (!block.contents.read({piece.offset, piece.offset + piece.length}, at, into))
    throw Fault(fmt::format("{}: reads data that was never written", describe(token)));
}

void SymbolicRank::store(Token token, const Piece& piece, std::span<const Held> pieces) {
  Memory::Block& block = check_bounds(token, piece);
  if (piece.buffer == Buffer::input) throw Fault(fmt::format("{}: writes the caller's input", describe(token)));
  block.contents.write(piece.offset, pieces);
  if (carried_.empty()) return;
  common_.written.push_back({.rank = rank_,
                             .instance = unrolled_.instance(token),
                             .owner = piece.owner == self ? rank_ : piece.owner,
                             .buffer = piece.buffer,
                             .block = piece.block,
                             .begin = piece.offset,
                             .data = {pieces.begin(), pieces.end()}});
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
  std::vector<Held>& data = common_.operands.result;
  data.clear();
  load(token, source, 0, data);
  store(token, target, data);
  carry(token, data);
}

void SymbolicRank::carry(Token token, std::span<const Held> data) {
  if (!carried_.empty()) carried_[static_cast<std::size_t>(unrolled_.instance(token))].assign(data.begin(), data.end());
}

void Common::combine(std::int64_t units) {
  auto& [left, right, result] = operands;
  result.clear();
  auto l = left.begin();
  auto r = right.begin();
  for (std::int64_t at = 0; at < units;) {
    const std::int64_t end = std::min(l->range.end, r->range.end);
    const auto value_at = [&](const Held& held) {
      return Value{held.value.expression, held.value.offset + at - held.range.begin};
    };
    result.push_back({{at, end}, expressions.combine(value_at(*l), value_at(*r))});
    if (l->range.end == end) ++l;
    if (r->range.end == end) ++r;
    at = end;
  }
}

void SymbolicRank::reduce(Token token, const Piece& left, const Piece& right, const Piece& target) {
  check_operands(token, {left, right, target}, 3);
  auto& [of_left, of_right, result] = common_.operands;
  of_left.clear();
  of_right.clear();
  load(token, left, 0, of_left);
  load(token, right, 0, of_right);
  common_.combine(target.length);
  store(token, target, result);
  carry(token, left.owner != self ? of_left : of_right);
  if (left.owner != self || right.owner != self || target.owner != self) ++event_of(token).done_step;
}

void SymbolicRank::publish(Token token, std::int32_t counter, std::int64_t value) {
  raise(Board::counter, counter, value, event(token).ready_step);
}

void SymbolicRank::raise(Board board, std::int32_t counter, std::int64_t value, std::int64_t step) {
  counters_[{board, counter}].push_back({value, step});
  common_.with_counters_set.push_back(rank_);
}

std::int64_t SymbolicRank::reached_at(Board board, std::int32_t counter, std::int64_t value) const {
  if (value <= 0) return 0;
  const auto found = counters_.find({board, counter});
  if (found == counters_.end()) return -1;
  for (const auto& [reached, step] : found->second) {
    if (reached >= value) return step;
  }
  return -1;
}

bool SymbolicRank::saw(Token token, const SymbolicRank& of, Board board, std::int32_t counter, std::int64_t value) {
  const std::int64_t step = of.reached_at(board, counter, value);
  if (step < 0) {
    auto& watching = common_.watching[static_cast<std::size_t>(of.rank_)];
    if (watching.empty() || watching.back() != rank_) watching.push_back(rank_);
    return false;
  }
  Event& event = event_of(token);
  event.done_step = std::max(event.ready_step, step);
  return true;
}

bool SymbolicRank::reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) {
  return saw(token, owner == self ? *this : common_.at(owner), Board::counter, counter, value);
}

void SymbolicRank::put(Token token, Rank, const Piece& source, const Piece& target) {
  move(token, source, target);
  take_step(token, Kind::send);
}

void SymbolicRank::flush(Token token, Rank) {
  flushing_.push_back(token);
}

void SymbolicRank::get(Token token, Rank, const Piece& source, const Piece& target) {
  move(token, source, target);
  take_step(token, Kind::receive);
  flushing_.push_back(token);
}

void SymbolicRank::notify(Token token, Rank to, std::int32_t notice, std::int64_t value) {
  if (common_.signals) take_step(token, Kind::send);
  common_.at(to).raise(Board::notice, notice, value, event(token).done_step);
}

bool SymbolicRank::noticed(Token token, std::int32_t notice, std::int64_t value) {
  return !common_.opening && saw(token, *this, Board::notice, notice, value);
}

void SymbolicRank::deposit(Token token, Rank to, const Piece& source, const Piece& box, std::int64_t value) {
  move(token, source, box);
  take_step(token, Kind::send);
  common_.at(to).raise(Board::box, box.block, value, event(token).done_step);
}

bool SymbolicRank::collect(Token token, const Piece& box, const Piece& target, std::int64_t value) {
  if (!saw(token, *this, Board::box, box.block, value)) return false;
  move(token, box, target);
  return true;
}

void SymbolicRank::offload(Token token, std::span<const Piece> data) {
  for (const Piece& piece : data) check_bounds(token, piece);
  offloading_.push_back({token, {data.begin(), data.end()}});
}

void SymbolicRank::contribution(const Offloaded& one, std::vector<Held>& into) {
  into.clear();
  for (const Piece& piece : one.pieces) load(one.token, piece, 0, into);
}

void SymbolicRank::finish_offload(std::span<const Held> result, std::int64_t step) {
  const Offloaded one = std::move(offloading_.front());
  offloading_.pop_front();
  for (const Piece& piece : one.pieces) store(one.token, piece, result);
  carry(one.token, result);
  event_of(one.token).done_step = step;
  runner_.complete(one.token);
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
  if (is_message(kind)) step = std::max(step, direction_step(kind));
  events_[static_cast<std::size_t>(instance)] = {common_.clock++, -1, step, step};
}

void SymbolicRank::completed(Token token) {
  event_of(token).completed = common_.clock++;
}

// One-sided, as a message: one at a time in each direction.
void SymbolicRank::take_step(Token token, Kind direction) {
  Event& event = event_of(token);
  std::int64_t& latest = direction_step(direction);
  event.done_step = latest = std::max(event.ready_step, latest) + 1;
}

void SymbolicRank::finish_message(Half& half, std::int64_t step) {
  half.open = false;
  event_of(half.token).done_step = step;
  std::int64_t& direction = direction_step(&half == &sending_ ? Kind::send : Kind::receive);
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

}  // namespace quadrille::verify
