#include "replay/simulated_rank.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "replay/simulated_world.hpp"

namespace quadrille::replay {

void SimulatedRank::begin_phase() {
  machine_.reset();
  // Other ranks may still read the slots of a rank that has ended.
  Phase next;
  done_ = !plan_->next(next);
  if (done_) {
    world_.rank_through();
    return;
  }
  phase_ = std::move(next);
  bring_scratch();
  ++phases_;
  machine_ = phase_.machine(*this, world_.posting());
  started_ = false;
}

// As the engine does, where a phase has none of its own.
void SimulatedRank::bring_scratch() {
  static const Layout byte = Layout::basic(1);
  Binding& binding = phase_.binding;
  if (!phase_.program || !binding.scratch.empty()) return;
  binding.unit = schedule().unit;
  const Layout& element = phase_.element ? *phase_.element : byte;
  scratch_.clear();
  for (const std::int64_t units : schedule().scratch) {
    const auto [first, last] = element.span(units);
    scratch_.emplace_back(static_cast<std::size_t>(last - first));
    binding.scratch.push_back({scratch_.back().data() - first, units, &element});
  }
}

bool SimulatedRank::advance() {
  if (done_) return false;
  if (!started_) {
    if (!std::exchange(begun_, true)) world_.rank_begun();
    started_ = true;
    machine_->start();
    return true;
  }
  const bool happened = machine_->advance();
  if (!machine_->done()) return happened;
  for (const Board board : {Board::counter, Board::notice, Board::box}) {
    if (phase_.program) counter_base_[place(board)] += schedule().span(board);
  }
  if (phase_.program) staging_runs_.add(schedule());
  begin_phase();
  return true;
}

std::string SimulatedRank::waiting() const {
  std::string text;
  if (!machine_) return text;
  for (const std::string& one : machine_->awaited()) text += fmt::format("  rank {}: {}\n", rank_, one);
  return text;
}

std::int64_t SimulatedRank::counter(Board board, std::int32_t index) const {
  const auto at = static_cast<std::size_t>(index);
  const std::vector<std::int64_t>& counters = counters_[place(board)];
  return at < counters.size() ? counters[at] : 0;
}

void SimulatedRank::raise(Board board, std::int32_t index, std::int64_t value) {
  const auto at = static_cast<std::size_t>(index);
  std::vector<std::int64_t>& counters = counters_[place(board)];
  if (at >= counters.size()) counters.resize(at + 1);
  counters[at] = value;
}

const SimulatedRank& SimulatedRank::sharing(Rank owner) const {
  if (owner == self || owner == rank_) return *this;
  if (!world_.share_memory(rank_, owner)) {
    throw std::runtime_error(fmt::format("rank {} uses memory of rank {}, which is on another node", rank_, owner));
  }
  return world_.at(owner);
}

Placed SimulatedRank::placed(const Piece& piece) const {
  return quadrille::place(sharing(piece.owner).binding(), in_turn(piece, false));
}

Placed SimulatedRank::in_window(Rank peer, const Piece& piece) const {
  return quadrille::place(world_.at(peer).binding(), in_turn(piece, true));
}

Piece SimulatedRank::in_turn(Piece piece, bool of_peer) const {
  if (piece.buffer == Buffer::staging) piece.offset += staging_runs_.place(schedule(), piece.block, of_peer);
  return piece;
}

std::int64_t SimulatedRank::noticed_value(std::int32_t notice, bool sets, std::int64_t value) const {
  if (!schedule().tells_of_staging(notice)) return base(Board::notice, value);
  return staging_runs_.of_notice(schedule(), notice, sets) + value;
}

std::int32_t SimulatedRank::message(Token token, std::span<const Piece> data) {
  const std::int32_t index = world_.take_message();
  Message& message = world_.message(index);
  message.token = token;
  message.buffered = false;
  message.next = -1;
  message.pieces.clear();
  for (const Piece& piece : data) message.pieces.push_back(placed(piece));
  return index;
}

std::int64_t SimulatedRank::units(Buffer buffer, Rank owner, std::int32_t block) {
  return sharing(owner).binding().units(buffer, block);
}

void SimulatedRank::send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) {
  const std::int32_t index = message(token, data);
  const bool buffered = world_.choose_buffered();
  if (buffered) {
    world_.message(index).buffered = true;
    world_.message(index).pack();
  }
  const bool open = phase_.protocol && channel == phase_.open_channel;
  if (open) {
    world_.post_open(true, rank_, to, channel, index);
  } else {
    world_.post(true, rank_, to, channel, phases_, index);
  }
  if (buffered) world_.complete_soon(rank_, token);
}

void SimulatedRank::receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) {
  const std::int32_t index = message(token, data);
  if (from == anyone) {
    world_.post_open(false, from, rank_, channel, index);
  } else {
    world_.post(false, from, rank_, channel, phases_, index);
  }
}

void SimulatedRank::copy(Token, const Piece& source, const Piece& target) {
  quadrille::copy(placed(source), placed(target));
}

void SimulatedRank::reduce(Token, const Piece& left, const Piece& right, const Piece& target) {
  quadrille::reduce(phase_.binding, placed(left), placed(right), placed(target));
}

void SimulatedRank::publish(Token, std::int32_t counter, std::int64_t value) {
  raise(Board::counter, counter, base(Board::counter, value));
}

bool SimulatedRank::reached(Token, Rank owner, std::int32_t counter, std::int64_t value) {
  return sharing(owner).counter(Board::counter, counter) >= base(Board::counter, value);
}

void SimulatedRank::put(Token token, Rank to, const Piece& source, const Piece& target) {
  world_.remote(rank_, to, {Remote::What::put, token, placed(source), in_window(to, target)});
}

void SimulatedRank::flush(Token token, Rank to) {
  world_.remote(rank_, to, {Remote::What::flush, token});
}

void SimulatedRank::get(Token token, Rank from, const Piece& source, const Piece& target) {
  world_.remote(rank_, from, {Remote::What::get, token, in_window(from, source), placed(target)});
}

void SimulatedRank::notify(Token token, Rank to, std::int32_t notice, std::int64_t value) {
  world_.remote(rank_, to, {Remote::What::notify, token, {}, {}, notice, noticed_value(notice, true, value)});
}

bool SimulatedRank::noticed(Token, std::int32_t notice, std::int64_t value) {
  return counter(Board::notice, notice) >= noticed_value(notice, false, value);
}

void SimulatedRank::deposit(Token token, Rank to, const Piece& source, const Piece& box, std::int64_t value) {
  Remote sent{Remote::What::deposit, token, {}, in_window(to, box), box.block, base(Board::box, value)};
  const Placed from = placed(source);
  sent.data.resize(static_cast<std::size_t>(from.length));
  pack({&from, 1}, 0, from.length, sent.data.data());
  world_.remote(rank_, to, std::move(sent));
}

bool SimulatedRank::collect(Token, const Piece& box, const Piece& target, std::int64_t value) {
  if (counter(Board::box, box.block) != base(Board::box, value)) return false;
  quadrille::copy(placed(box), placed(target));
  return true;
}

void SimulatedRank::offload(Token token, std::span<const Piece> data) {
  Offloaded one{token, phases_, {}};
  for (const Piece& piece : data) one.data.push_back(placed(piece));
  world_.offload(rank_, std::move(one));
}

}  // namespace quadrille::replay
