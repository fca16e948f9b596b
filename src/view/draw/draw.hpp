#pragma once

#include <string>

#include "verify/execution.hpp"

namespace quadrille::draw {

// The title of a drawing, e.g. "allreduce, ring" and "8 ranks, 14 steps, 112 messages".
struct Title {
  std::string heading;
  std::string subheading;
};

// More lifelines are not legible on a page.
inline constexpr Rank most_ranks = 64;

// Draws an execution of the subject: a column per rank, a row per step, an arrow per message. The SVG is
// self-contained, without scripts or external references. Shared-memory and one-sided transfers are drawn, counters are
// not. Deterministic. Throws std::invalid_argument for more than most_ranks ranks.
std::string svg(const verify::Subject& subject, const Title& title);

}  // namespace quadrille::draw
