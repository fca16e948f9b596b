#pragma once

#include "algorithms/algorithm.hpp"
#include "cost/map.hpp"
#include "cost/model.hpp"

namespace quadrille::cost {

struct Seconds {
  double alone = 0;
  // Of one of many calls in a row, of which a rank may begin the next while others are still in the one before: as long
  // as the busiest core or link has to do with it.
  double in_a_row = 0;
};

// The time of an algorithm by its outline: as simulate, but without schedules, and quick enough for a call that has to
// be decided. The problem is that of the root, or of any rank; `unit_bytes` are those of a unit.
Seconds price(const Algorithm& algorithm, const Problem& problem, double unit_bytes, Map& map, const Model& model);

}  // namespace quadrille::cost
