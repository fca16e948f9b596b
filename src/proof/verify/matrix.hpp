#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "replay/trial.hpp"
#include "topology/topology.hpp"

namespace quadrille::verify {

// An entry of the test matrix: an algorithm on one problem.
struct Case {
  const Algorithm* algorithm = nullptr;
  Problem problem;
  bool uneven = false;                           // blocks of different sizes, some empty, if the collective allows it
  std::shared_ptr<const Shares> shares = {};     // referenced by the problem
  std::shared_ptr<const Topology> machine = {};  // likewise
  bool replayed = true;                          // on real data, too
  replay::Types types = replay::Types::contiguous;
  std::uint64_t seed = 1;
};

// All cases of an algorithm on so many ranks. Up to 64 ranks: counts 0, 1, p - 1, p, p + 1 and larger, several roots,
// in place or not, commutative or not, in rank order, segments that don't divide the count, several widths, types with
// gaps. Above, one problem for each of in place and commutative, by proof only.
std::vector<Case> cases(const Algorithm& algorithm, Rank ranks);

// Proves the case, compares the algorithm's predictions with the schedules, and replays it with random posting order
// and a window determined by the seed. A case with the same schedules as one with a stricter order is covered by the
// latter's proof. Returns the error, or an empty string.
std::string check(const Case& one);

// A description that allows reproducing the case.
std::string describe(const Case& one);

}  // namespace quadrille::verify
