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
  if (phase_.program) counter_base_ += phase_.program->schedule().counter_span;
  begin_phase();
  return true;
}

std::string SimulatedRank::waiting() const {
  std::string text;
  if (!machine_) return text;
  for (const std::string& one : machine_->awaited()) text += fmt::format("  rank {}: {}\n", rank_, one);
  return text;
}

std::int64_t SimulatedRank::counter(std::int32_t index) const {
  const auto place = static_cast<std::size_t>(index);
  return place < counters_.size() ? counters_[place] : 0;
}

void SimulatedRank::raise(std::int32_t index, std::int64_t value) {
  const auto place = static_cast<std::size_t>(index);
  if (place >= counters_.size()) counters_.resize(place + 1);
  counters_[place] = value;
}

const SimulatedRank& SimulatedRank::sharing(Rank owner) const {
  if (owner == self || owner == rank_) return *this;
  if (!world_.share_memory(rank_, owner)) {
    throw std::runtime_error(fmt::format("rank {} uses memory of rank {}, which is on another node", rank_, owner));
  }
  return world_.at(owner);
}

Placed SimulatedRank::placed(const Piece& piece) const {
  return place(sharing(piece.owner).binding(), piece);
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
  raise(counter, base(value));
}

bool SimulatedRank::reached(Token, Rank owner, std::int32_t counter, std::int64_t value) {
  return sharing(owner).counter(counter) >= base(value);
}

void SimulatedRank::put(Token token, Rank to, const Piece& source, const Piece& target) {
  world_.remote(rank_, to, {Remote::What::put, token, placed(source), place(world_.at(to).binding(), target)});
}

void SimulatedRank::flush(Token token, Rank to) {
  world_.remote(rank_, to, {Remote::What::flush, token});
}

void SimulatedRank::notify(Token token, Rank to, std::int32_t counter, std::int64_t value) {
  world_.remote(rank_, to, {Remote::What::notify, token, {}, {}, counter, base(value)});
}

void SimulatedRank::offload(Token token, std::span<const Piece> data) {
  Offloaded one{token, phases_, {}};
  for (const Piece& piece : data) one.data.push_back(placed(piece));
  world_.offload(rank_, std::move(one));
}

}  // namespace quadrille::replay
