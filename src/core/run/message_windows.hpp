#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/program.hpp"

namespace quadrille {

// Bounds the messages in flight, in each direction: a window slides over their numbers in program order. Everything is
// allocated when it is made. Not thread-safe.
class MessageWindows {
 public:
  // The program must outlive it. Throws std::invalid_argument unless the window has at least one message.
  MessageWindows(const Program& program, std::int64_t window);

  // A run begins: `iterations_of(loop)` are those of a loop of the schedule.
  template <class IterationsOf>
  void start(IterationsOf&& iterations_of) {
    for (Kind kind : {Kind::send, Kind::receive}) {
      Direction& way = direction(kind);
      if (!way.windowed()) continue;
      std::int64_t base = 0;
      const auto segments = program_.segments(kind);
      for (std::size_t i = 0; i < segments.size(); ++i) {
        way.segment_base[i] = base;
        base += segments[i].messages * (segments[i].loop < 0 ? 1 : iterations_of(segments[i].loop));
      }
      way.start(base);
    }
  }

  // Whether the message may be posted. What is held back is asked about again when the window reaches it.
  bool lets_in(Kind kind, std::int32_t id, std::int64_t iteration) const {
    const Direction& way = direction(kind);
    return !way.windowed() || way.lets_in(number_of(way, id, iteration));
  }
  // The message is complete. Calls let_in(operation) for each message that the window reaches by that.
  template <class LetIn>
  void complete(Kind kind, std::int32_t id, std::int64_t iteration, LetIn&& let_in) {
    Direction& way = direction(kind);
    if (!way.windowed()) return;
    way.done_after[way.place(number_of(way, id, iteration) - way.base)] = true;
    while (way.done_after[way.base_place]) {
      const std::int64_t reached = way.slide();
      if (reached < way.messages) let_in(operation_of(kind, reached));
    }
  }

 private:
  struct Direction {
    std::vector<std::int64_t> segment_base;  // number of a segment's first message
    std::int64_t base = 0;                   // all messages below are complete
    std::int64_t messages = 0;               // all of them
    std::vector<bool> done_after;            // a ring as long as the window; empty: no window
    std::size_t base_place = 0;              // where it has `base`
    std::size_t front_segment = 0;           // of the last message that was let in

    bool windowed() const { return !done_after.empty(); }
    bool lets_in(std::int64_t number) const { return number < base + static_cast<std::int64_t>(done_after.size()); }
    std::size_t place(std::int64_t ahead) const {
      const auto at = base_place + static_cast<std::size_t>(ahead);
      return at < done_after.size() ? at : at - done_after.size();
    }
    void start(std::int64_t all);
    // By one message; the number that it reaches.
    std::int64_t slide();
  };

  Direction& direction(Kind kind) { return directions_[kind == Kind::send ? 0 : 1]; }
  const Direction& direction(Kind kind) const { return directions_[kind == Kind::send ? 0 : 1]; }
  std::int64_t number_of(const Direction& way, std::int32_t id, std::int64_t iteration) const {
    const Program::Numbering& numbering = program_.numbering(id);
    return way.segment_base[static_cast<std::size_t>(numbering.segment)] + numbering.first +
           numbering.stride * iteration;
  }
  std::int32_t operation_of(Kind kind, std::int64_t number);

  const Program& program_;
  std::array<Direction, 2> directions_;
};

}  // namespace quadrille
