#include "engine/window_transport.hpp"

#include <algorithm>
#include <stdexcept>

namespace quadrille::engine {

namespace {

// Windows hold bytes one after another.
std::byte* contiguous(const Placed& data) {
  std::byte* const first = data.contiguous();
  if (!first) throw std::logic_error("data in a window has gaps");
  return first;
}

std::size_t bytes_of(const Placed& data) {
  return static_cast<std::size_t>(data.length);
}

}  // namespace

void WindowTransport::lay_out(const Schedule& schedule) {
  schedule_ = &schedule;
  puts_ = std::any_of(schedule.operations.begin(), schedule.operations.end(), [&](const Operation& operation) {
    return operation.kind == Kind::put && schedule.regions_of(operation)[1].buffer == Buffer::output;
  });
  box_words_.assign(1, 0);
  for (const std::int64_t units : schedule.boxes) box_words_.push_back(box_words_.back() + Window::words(units));
}

void WindowTransport::start(std::int64_t run) {
  run_ = run;
  if (!schedule_ || schedule_->staging.empty()) return;
  staging_runs_ = window_->staging_runs();
  window_->staging_runs().add(*schedule_);
}

std::int64_t WindowTransport::counted(std::int32_t notice, bool sets, std::int64_t value) const {
  if (schedule_->tells_of_staging(notice)) return staging_runs_.of_notice(*schedule_, notice, sets) + value;
  return value <= 0 ? 0 : run_ * most_counter_span + value;
}

std::int64_t WindowTransport::place_in_staging(const Piece& piece, bool of_peer) const {
  const std::int64_t block = staging_places * schedule_->staging[static_cast<std::size_t>(piece.block)];
  return piece.block * block + staging_runs_.place(*schedule_, piece.block, of_peer) + piece.offset;
}

Placed WindowTransport::staged(const Piece& piece) const {
  static const Layout byte = Layout::basic(1);
  return {{window_->staging(place_in_staging(piece, false)), piece.length, &byte}, 0, piece.length};
}

std::int64_t WindowTransport::place(const Binding& binding, const Piece& piece) const {
  const auto* const own = static_cast<const std::byte*>(binding.block(piece.buffer, piece.block).address);
  return own - window_->memory() + piece.offset;
}

void WindowTransport::put(Rank to, const Placed& source, std::int64_t at) const {
  window_->put(contiguous(source), source.length, to, at);
}

void WindowTransport::put_staging(Rank to, const Placed& source, const Piece& target) const {
  window_->put_staging(contiguous(source), source.length, to, place_in_staging(target, true));
}

void WindowTransport::flush(Rank to) const {
  if (!schedule_->staging.empty()) window_->flush_staging(to);
  if (puts_) window_->flush(to);
}

const std::vector<MPI_Request>& WindowTransport::get(Rank from, std::int64_t at, const Placed& target) {
  requests_.clear();
  window_->get(contiguous(target), target.length, from, at, requests_);
  return requests_;
}

void WindowTransport::deposit(Rank to, const Placed& source, std::int32_t box) const {
  window_->deposit({contiguous(source), bytes_of(source)}, to, box_words_[static_cast<std::size_t>(box)], stamp());
}

bool WindowTransport::collect(std::int32_t box, const Placed& target) const {
  return window_->collect({contiguous(target), bytes_of(target)}, box_words_[static_cast<std::size_t>(box)], stamp());
}

}  // namespace quadrille::engine
