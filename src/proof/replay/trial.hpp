#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "replay/world.hpp"

namespace quadrille::replay {

// contiguous: plain bytes and pairs of integers. gaps: elements with holes and a negative lower bound, and other types
// of the same signature on each rank where the collective allows it, one of them the whole message in one element.
enum class Types : std::uint8_t { contiguous, gaps };

// A collective on real data, once or several times in a row over the same slots and counters.
struct Trial {
  Collective collective = Collective::barrier;
  Build build;
  std::vector<Problem> rounds;  // the rank is ignored
  BlockSizes sizes = {};
  Types types = Types::contiguous;
  Options options = {};
};
Trial trial_of(const Algorithm& algorithm, const Problem& problem, const BlockSizes& sizes = {});

// Runs the trial and compares every byte of every rank's memory, gaps and inputs included, with a plain sequential
// evaluation of the collective's meaning. Returns what is wrong; empty: nothing. Reductions are sums of pairs where the
// operation is commutative, and compositions of affine maps where it is not.
std::string run(const Trial& trial);

}  // namespace quadrille::replay
