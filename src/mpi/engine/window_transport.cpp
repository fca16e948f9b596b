#include "engine/window_transport.hpp"

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
  box_words_.assign(1, 0);
  for (const std::int64_t units : schedule.boxes) box_words_.push_back(box_words_.back() + Window::words(units));
}

std::int64_t WindowTransport::place(const Binding& binding, const Piece& piece) const {
  const auto* const own = static_cast<const std::byte*>(binding.block(piece.buffer, piece.block).address);
  return own - window_->memory() + piece.offset;
}

void WindowTransport::put(Rank to, const Placed& source, std::int64_t at) const {
  window_->put(contiguous(source), source.length, to, at);
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
