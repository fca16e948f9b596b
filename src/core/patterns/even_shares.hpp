#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/data.hpp"

namespace quadrille::patterns {

// Shares `first` and the next, `many` in all, of `count` units divided into `parts` that have one length but for the
// last ones, which may be empty.
inline Range even_shares(std::int64_t count, std::int64_t first, std::int64_t many, std::int64_t parts) {
  const std::int64_t each = (count + parts - 1) / parts;
  return {std::min(count, first * each), std::min(count, (first + many) * each)};
}

}  // namespace quadrille::patterns
