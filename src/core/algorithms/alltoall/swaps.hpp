#pragma once

#include <span>

#include "algorithms/algorithm.hpp"

// Common to the algorithms in which pairs of ranks swap their blocks. They differ in the order of partners.
namespace quadrille::alltoall {

// Swaps with these partners in this order, `width` of them at a time. In place, the lower rank sends first, when the
// higher one demands it, a few segments at a time, and receives into the places it has sent from; at the higher rank
// received data waits in scratch until its place has been sent from. So only half of the partners need scratch, and a
// rank swaps with `width` partners of each half at a time.
void swap_in_turn(Builder& builder, const Problem& problem, std::span<const Rank> partners);

// Units of scratch, in place: a ring of segments for each concurrent partner.
std::int64_t scratch_to_swap(const Problem& problem);

// The prediction, if one partner after another takes so many steps.
Prediction predict_swaps(const Problem& problem, std::int64_t steps);
void outline_swaps(const Problem& problem, Outline& out);

// In place the first of m + 2 steps is a demand, and the data of the others is one step late in one direction.
inline constexpr std::string_view cost_of_swaps = "steps (a + n b); in place steps (a + (m + 1)/(m + 2) n/m b)";

// An algorithm of this kind, by what distinguishes it.
constexpr Algorithm swapping(std::string_view name, std::string_view summary, std::string_view paper,
                             std::string_view steps, void (*build)(Builder&, const Problem&),
                             Prediction (*predict)(const Problem&)) {
  return {.collective = Collective::alltoall,
          .name = name,
          .summary = summary,
          .paper = paper,
          .steps = steps,
          .cost = cost_of_swaps,
          .scratch = "0; in place k w segments",
          .restrictions = {},
          .segmented = true,
          .swaps = true,
          .width = 1,
          .build = build,
          .predict = predict,
          .scratch_units = scratch_to_swap,
          .outline = outline_swaps};
}

}  // namespace quadrille::alltoall
