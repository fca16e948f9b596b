#pragma once

#include "schedule/data.hpp"

namespace quadrille::patterns {

// The rank `distance` places further on the ring of all ranks; negative: back.
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

// Share `index` of `count` units cut into `parts` as even as can be.
inline Range share(std::int64_t count, std::int64_t index, std::int64_t parts) {
  const std::int64_t each = count / parts;
  const std::int64_t rest = count % parts;
  const auto begin = [&](std::int64_t i) { return each * i + (i < rest ? i : rest); };
  return {begin(index), begin(index + 1)};
}

}  // namespace quadrille::patterns
