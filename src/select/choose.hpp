#pragma once

#include <cstdint>

#include "algorithms/algorithm.hpp"

namespace quadrille {

// A call, by what every rank knows alike.
struct Occasion {
  Collective collective;
  Rank ranks = 1;
  std::int64_t bytes = 0;    // of one rank's data; 0 for collectives with a block for each peer
  std::int64_t count = 0;    // elements of it
  std::int64_t segment = 0;  // bytes of a segment, if it is cut
};

// Which algorithm serves it, by rules of thumb. Always one for any operation, in place or not.
const Algorithm& choose(const Occasion& occasion);

}  // namespace quadrille
