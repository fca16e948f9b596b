#pragma once

#include "algorithms/algorithm.hpp"
#include "cost/map.hpp"
#include "cost/model.hpp"

namespace quadrille::cost {

// The time of an algorithm by its outline: as simulate, but without schedules, and quick enough for a call that has to
// be decided. The problem is that of the root, or of any rank; `unit_bytes` are those of a unit.
double price(const Algorithm& algorithm, const Problem& problem, double unit_bytes, Map& map, const Model& model);

}  // namespace quadrille::cost
