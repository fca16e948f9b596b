#pragma once

#include <vector>

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "patterns/hypercube.hpp"

namespace quadrille {

// The lower of two peers keeps the front half of a range, the higher the back half.
struct Halves {
  Range kept;
  Range given;
};
Halves halves_of(Range range, bool lower);

// The first part of Rabenseifner's reductions, on a corner of a hypercube: exchanges half of the remaining range across
// one dimension after another, so that each corner ends with its own part of the result. Neighbouring blocks of ranks
// are combined, the lower as the left operand, so rank order is preserved. Returns the halves, by dimension.
std::vector<Halves> reduce_by_halving(Builder& builder, const Problem& problem, const patterns::Hypercube& cube,
                                      Accumulator& result);

// A partner, and whether this rank is the one of the two that keeps the front half.
struct HalvingStep {
  Rank peer;
  bool keeps_front;
};
std::vector<Halves> reduce_by_halving(Builder& builder, const Problem& problem, const std::vector<HalvingStep>& steps,
                                      Accumulator& result);

// An allreduce of what the corners have combined: by halving, then an allgather in reverse. The result is in the
// output.
void allreduce_by_halving(Builder& builder, const Problem& problem, const std::vector<HalvingStep>& steps,
                          Accumulator& result);
void allreduce_by_halving(Builder& builder, const Problem& problem, const patterns::Hypercube& cube,
                          Accumulator& result);

// Of an allreduce by halving whose ranks beyond a power of two are represented by others.
Prediction predict_allreduce_by_halving(const Problem& problem);

// The number of `count` units in front halves after level + 1 bisections.
std::int64_t in_front_halves(std::int64_t count, int level);

}  // namespace quadrille
