#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/all_ranks.hpp"
#include "schedule/schedule.hpp"

namespace quadrille::verify {

// The subject of a proof: all ranks, and the required result.
struct Subject : AllRanks {
  bool commutative = true;
  bool fixed_order = false;              // of a reduction: in rank order, left to right
  bool synchronises = false;             // no rank may end before every rank has begun
  std::int64_t scratch_limit = 0;        // maximum units of scratch per rank
  std::vector<std::int32_t> nodes = {};  // by rank, whose ranks share memory; none: one node
  // Whether the block holds the caller's data at the start. Other blocks must not be read before they are written, and
  // input blocks must not be written.
  std::function<bool(Rank, Buffer, std::int32_t)> given = {};
  std::vector<std::vector<Meaning>> meanings = {};  // by rank

  bool share_memory(Rank one, Rank other) const {
    return nodes.empty() || nodes[static_cast<std::size_t>(one)] == nodes[static_cast<std::size_t>(other)];
  }
};

// A collective by an algorithm, or by arbitrary schedules. `problem.rank` is ignored.
Subject subject_of(const Algorithm& algorithm, const Problem& problem, const BlockSizes& sizes = {});
Subject subject_of(Collective collective, const Build& build, const Problem& problem, const BlockSizes& sizes,
                   std::int64_t scratch_limit);

// Several consecutive collectives over the same slots and counters; each rank starts one when it has completed the
// previous one. Each has its own input and output blocks. All are commutative or none.
Subject in_a_row(const std::vector<Subject>& subjects);

// Both schedules as one: `later` starts when `earlier` is complete on this rank; counters continue.
Schedule in_a_row(const Schedule& earlier, const Schedule& later, std::int32_t block_shift);

}  // namespace quadrille::verify
