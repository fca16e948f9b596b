#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "replay/trial.hpp"
#include "topology/topology.hpp"

namespace quadrille::verify {

// One cell of the matrix: an algorithm on one problem.
struct Case {
  const Algorithm* algorithm = nullptr;
  Problem problem;
  bool uneven = false;                        // blocks of different sizes, some empty, where the collective allows it
  std::shared_ptr<const Shares> shares = {};  // that the problem refers to
  std::shared_ptr<const Topology> machine = {};  // likewise
  bool replayed = true;                          // on real data, too
  replay::Types types = replay::Types::contiguous;
  std::uint64_t seed = 1;
};

// All that is checked for an algorithm on so many ranks. Up to 64: counts 0, 1, p - 1, p, p + 1 and larger, several
// roots, in place and not, commutative and not, in a fixed order, cut into segments that don't divide the count,
// several widths, types with gaps. Above, one problem for each of in place and commutative, by proof alone.
std::vector<Case> cases(const Algorithm& algorithm, Rank ranks);

// Proves the case, holds the algorithm's predictions against the schedules, and replays it with random posting order
// and a window by the seed. A case with the schedules of one that asks for a stricter order is proved by that. Returns
// what is wrong, or an empty string.
std::string check(const Case& one);

// For people, and to repeat it by hand.
std::string describe(const Case& one);

}  // namespace quadrille::verify
