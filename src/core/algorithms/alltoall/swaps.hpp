#pragma once

#include <span>

#include "algorithms/algorithm.hpp"

// What the algorithms have in common in which ranks meet in pairs and swap the blocks they have for each other. They
// differ in the order in which a rank meets the others.
namespace quadrille::alltoall {

// Swaps with these partners, in this order, with `width` of them at a time. In place, the lower one of two ranks sends
// first, a few segments at a time, and receives where it has sent from; at the other one what comes waits in scratch
// until its place has been sent from. So scratch is for half of the partners, and a rank swaps with `width` of each
// half at a time.
void swap_in_turn(Builder& builder, const Problem& problem, std::span<const Rank> partners);

// Units of scratch, in place: a ring of segments for each partner of those at a time.
std::int64_t scratch_to_swap(const Problem& problem);

// What it takes, where one partner after another takes so many steps.
Prediction predict_swaps(const Problem& problem, std::int64_t steps);

// An algorithm of this kind: what it does not share with the others.
constexpr Algorithm swapping(std::string_view name, std::string_view summary, std::string_view paper,
                             std::string_view steps, void (*build)(Builder&, const Problem&),
                             Prediction (*predict)(const Problem&)) {
  return {.collective = Collective::alltoall,
          .name = name,
          .summary = summary,
          .paper = paper,
          .steps = steps,
          .cost = "steps (a + n b)",
          .scratch = "0; in place k w segments",
          .restrictions = {},
          .segmented = true,
          .swaps = true,
          .width = 1,
          .build = build,
          .predict = predict,
          .scratch_units = scratch_to_swap};
}

}  // namespace quadrille::alltoall
