#include "run/message_windows.hpp"

#include <algorithm>
#include <stdexcept>

namespace quadrille {

MessageWindows::MessageWindows(const Program& program, std::int64_t window) : program_(program) {
  if (window < 1) throw std::invalid_argument("a run needs a window of at least one message");
  std::array<std::int64_t, 2> messages = {0, 0};
  for (const Operation& operation : program.schedule().operations) {
    if (!is_message(operation.kind)) continue;
    messages[operation.kind == Kind::send ? 0 : 1] += program.most_in_flight(operation);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    directions_[i].segment_base.resize(program.segments(i == 0 ? Kind::send : Kind::receive).size());
    // No more than `messages` can be in flight: a larger window is no window.
    if (window < messages[i]) directions_[i].done_after.resize(static_cast<std::size_t>(window));
  }
}

void MessageWindows::Direction::start(std::int64_t all) {
  messages = all;
  base = 0;
  base_place = 0;
  front_segment = 0;
  std::fill(done_after.begin(), done_after.end(), false);
}

std::int64_t MessageWindows::Direction::slide() {
  done_after[base_place] = false;
  base_place = place(1);
  return base++ + static_cast<std::int64_t>(done_after.size());
}

// Asked for in ascending order of numbers.
std::int32_t MessageWindows::operation_of(Kind kind, std::int64_t number) {
  Direction& way = direction(kind);
  const auto segments = program_.segments(kind);
  while (way.front_segment + 1 < segments.size() && way.segment_base[way.front_segment + 1] <= number)
    ++way.front_segment;
  const Program::MessageSegment& segment = segments[way.front_segment];
  const std::int64_t place = (number - way.segment_base[way.front_segment]) % segment.messages;
  return program_.messages(kind)[static_cast<std::size_t>(segment.first + place)];
}

}  // namespace quadrille
