#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "schedule/schedule.hpp"

namespace quadrille::verify {

// What is to be proved: the schedules of all ranks, the memory they are given, and what they must leave behind.
struct Subject {
  std::vector<Schedule> schedules;  // by rank
  bool commutative = true;
  bool fixed_order = false;        // of a reduction: folded from rank 0 up, left to right
  bool synchronises = false;       // nobody may end before everybody has begun
  std::int64_t scratch_limit = 0;  // units of scratch that a rank was promised to take at most
  // Units of a block of the caller's, by rank; -1 if the rank has no such block.
  std::function<std::int64_t(Rank, Buffer, std::int32_t)> units;
  // Whether the block holds the caller's data at the start. What is not given must not be read, and what is given as
  // input must not be written.
  std::function<bool(Rank, Buffer, std::int32_t)> given;
  std::vector<std::vector<Meaning>> meanings;  // by rank
};

// A collective by an algorithm, or by any schedules that claim to perform it. `problem.rank` is ignored.
Subject subject_of(const Algorithm& algorithm, const Problem& problem, const BlockSizes& sizes = {});
Subject subject_of(Collective collective, const Build& build, const Problem& problem, const BlockSizes& sizes,
                   std::int64_t scratch_limit);

// Several collectives in a row over the same slots and counters, each rank starting one when it is done with the one
// before. Each has blocks of its own for its input and output. All are commutative or none.
Subject in_a_row(const std::vector<Subject>& subjects);

// The schedules as one: `later` starts when `earlier` is complete on this rank; counters go on from where they were.
Schedule in_a_row(const Schedule& earlier, const Schedule& later, std::int32_t block_shift);

}  // namespace quadrille::verify
