#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "replay/world.hpp"

namespace quadrille::replay {

// contiguous: bytes and pairs of integers. gaps: elements with holes and a negative lower bound and, if the collective
// allows it, different types of the same signature on each rank, one of them with the whole message in one element.
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

// Runs the trial and compares every byte of every rank's memory, gaps and inputs included, with a sequential evaluation
// of the collective. Returns the error, or an empty string. Commutative reductions are sums of pairs, others
// compositions of affine maps.
std::string run(const Trial& trial);

}  // namespace quadrille::replay
