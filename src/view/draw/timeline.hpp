#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "draw/payload.hpp"
#include "verify/execution.hpp"

namespace quadrille::draw {

// How data, or a message without data, is transferred. A read or get is from memory of the sender's, a put or write to
// the receiver's.
enum class TransferKind : std::uint8_t { message, put, get, read, write };

struct Transfer {
  TransferKind kind = TransferKind::message;
  Rank from = 0;
  Rank to = 0;
  std::int64_t step = 0;   // 1 ...
  std::int64_t units = 0;  // 0: a signal
  Payload payload;
  std::vector<Payload> pieces;  // of it, as they follow one another
  bool around = false;          // wraps around the edges of the drawing
};

// A reduction at the end of a step.
struct Fold {
  Rank rank = 0;
  std::int64_t step = 0;

  friend auto operator<=>(const Fold&, const Fold&) = default;
};

// What is drawn of an execution.
struct Timeline {
  Rank ranks = 0;
  std::int64_t steps = 0;
  std::string_view unit;  // "bytes" or "elements"
  bool reduces = false;
  bool complete = true;  // the run completed
  bool around = false;   // some transfer wraps around
  std::vector<Transfer> transfers;
  std::vector<Fold> folds;               // sorted, without duplicates
  std::vector<std::int64_t> holds_from;  // by rank: the step that completes its result; -1: it has none
};

// Of signals without data: the ranks that a rank has heard of, directly or not, as bits, by step from 0 and by rank.
std::vector<std::vector<std::uint64_t>> heard_of(const Timeline& timeline);

Timeline timeline_of(const verify::Subject& subject, const verify::Execution& execution,
                     const verify::Expressions& expressions);

}  // namespace quadrille::draw
