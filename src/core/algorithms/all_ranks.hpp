#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "schedule/schedule.hpp"

namespace quadrille {

// A collective as seen from outside: the schedules of all ranks, and the sizes of their callers' blocks.
struct AllRanks {
  std::vector<Schedule> schedules;  // by rank
  // Units of a caller's block; -1 if the rank has no such block.
  std::function<std::int64_t(Rank rank, Buffer buffer, std::int32_t block)> units;
};

// By an algorithm, or by arbitrary schedules. `problem.rank` is ignored; `sizes` are needed for v and w collectives
// only.
AllRanks all_ranks(const Algorithm& algorithm, const Problem& problem, const BlockSizes& sizes = {});
AllRanks all_ranks(Collective collective, const Build& build, const Problem& problem, const BlockSizes& sizes = {});

}  // namespace quadrille
