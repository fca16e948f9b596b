#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/data.hpp"

namespace quadrille::patterns {

// The rank at a distance, which may be negative, modulo ranks.
inline Rank at_distance(Rank rank, Rank distance, Rank ranks) {
  const std::int64_t place = (std::int64_t{rank} + distance) % ranks;
  return static_cast<Rank>(place < 0 ? place + ranks : place);
}

// ceil(log2 ranks), floor(log2 ranks).
inline int ceil_log2(Rank ranks) {
  int steps = 0;
  while ((std::int64_t{1} << steps) < ranks) ++steps;
  return steps;
}
inline int floor_log2(Rank ranks) {
  int steps = 0;
  while ((std::int64_t{2} << steps) <= ranks) ++steps;
  return steps;
}

// Share `index` of `count` units divided into `parts` as evenly as possible.
inline Range share(std::int64_t count, std::int64_t index, std::int64_t parts) {
  const std::int64_t each = count / parts;
  const std::int64_t rest = count % parts;
  const auto begin = [&](std::int64_t i) { return each * i + (i < rest ? i : rest); };
  return {begin(index), begin(index + 1)};
}

// The number of segments of `count` units (see Builder::for_each_segment).
inline std::int64_t segments(std::int64_t count, std::int64_t segment) {
  const bool cut = segment > 0 && segment < count;
  return cut ? (count + segment - 1) / segment : 1;
}

// The number of messages that a share goes around a ring in, none shorter than that: a rank forwards the first while it
// receives the others.
inline Rank messages(std::int64_t share, std::int64_t shortest) {
  constexpr std::int64_t most = 4;
  return shortest <= 0 ? 1 : static_cast<Rank>(std::clamp<std::int64_t>(share / shortest, 1, most));
}

// Units of a ring that holds `window` segments and the rest (see Segment::in_ring).
inline std::int64_t ring_units(std::int64_t count, std::int64_t segment, std::int64_t window) {
  const std::int64_t most = segment > 0 ? (window + 1) * segment : count;
  return most < count ? most : count;
}

// Steps that a pipeline of `count` units saves after another of the same length: full segments need not wait for the
// rest of the previous one.
inline std::int64_t overlapping_steps(std::int64_t count, std::int64_t segment) {
  return segments(count, segment) > 1 && count % segment != 0 ? 1 : 0;
}

}  // namespace quadrille::patterns
