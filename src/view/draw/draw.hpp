#pragma once

#include <string>

#include "verify/execution.hpp"

namespace quadrille::draw {

// What stands above the picture, e.g. "allreduce, ring" and "8 ranks, 14 steps, 112 messages".
struct Title {
  std::string heading;
  std::string subheading;
};

// More lifelines than this can't be told apart on a page.
inline constexpr Rank most_ranks = 64;

// A picture of the subject, run: ranks across, steps down, every message an arrow. The SVG stands alone: no script, no
// reference to anything outside. Data that ranks move by shared memory or one-sided is drawn too; counters are not.
// Same input, same text. Throws std::invalid_argument for more than most_ranks ranks.
std::string svg(const verify::Subject& subject, const Title& title);

}  // namespace quadrille::draw
