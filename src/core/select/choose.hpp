#pragma once

#include <cstdint>

#include "algorithms/algorithm.hpp"

namespace quadrille {

// A call, by what every rank knows alike.
struct Occasion {
  Collective collective;
  Rank ranks = 1;
  std::int64_t bytes = 0;    // of one rank's data or block, of a reduce_scatter all; 0 where only some know
  std::int64_t count = 0;    // elements of it
  std::int64_t segment = 0;  // bytes of a segment, if it is cut
  bool in_place = false;     // on every rank
  bool commutative = true;
  bool fixed_order = false;
};

// Which algorithm serves it, by rules of thumb.
const Algorithm& choose(const Occasion& occasion);

}  // namespace quadrille
