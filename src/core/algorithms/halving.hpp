#pragma once

#include <vector>

#include "algorithms/accumulator.hpp"
#include "patterns/hypercube.hpp"

namespace quadrille {

// Of a range that two peers hold, the lower one keeps the front half and the higher one the back half.
struct Halves {
  Range kept;
  Range given;
};

// The first part of Rabenseifner's reductions, on a corner of a hypercube: exchanges half of what is left across one
// dimension after another, so that each corner ends with its own part of the result. Neighbouring blocks of ranks are
// combined, lower on the left: rank order is kept. Returns who kept what, by dimension.
std::vector<Halves> reduce_by_halving(Builder& builder, const Problem& problem, const patterns::Hypercube& cube,
                                      Accumulator& result);

// How many of `count` units are in front halves when they are cut in two for the
// (level + 1)th time.
std::int64_t in_front_halves(std::int64_t count, int level);

}  // namespace quadrille
