#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "draw/payload.hpp"
#include "verify/execution.hpp"

namespace quadrille::draw {

// How data, or a message without data, gets from one rank to another. A read is from the sender's slot, a put or write
// into the receiver's.
enum class TransferKind : std::uint8_t { message, put, read, write };

struct Transfer {
  TransferKind kind = TransferKind::message;
  Rank from = 0;
  Rank to = 0;
  std::int64_t step = 0;   // 1 ...
  std::int64_t units = 0;  // 0: a signal
  Payload payload;
  bool around = false;  // leaves at one edge of the picture and comes in at the other
};

// A rank reduces, at the end of a step.
struct Fold {
  Rank rank = 0;
  std::int64_t step = 0;

  friend auto operator<=>(const Fold&, const Fold&) = default;
};

// An execution as far as a picture tells it.
struct Timeline {
  Rank ranks = 0;
  std::int64_t steps = 0;
  std::string_view unit;  // "bytes" or "elements"
  bool reduces = false;
  bool complete = true;  // the run came to its end
  bool around = false;   // some transfer goes around
  std::vector<Transfer> transfers;
  std::vector<Fold> folds;               // sorted, each once
  std::vector<std::int64_t> holds_from;  // by rank: the end of which step completes its result; -1: it has none
};

Timeline timeline_of(const verify::Subject& subject, const verify::Execution& execution,
                     const verify::Expressions& expressions);

}  // namespace quadrille::draw
