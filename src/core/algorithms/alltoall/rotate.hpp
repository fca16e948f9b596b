#pragma once

#include "algorithms/algorithm.hpp"
#include "patterns/ring.hpp"

namespace quadrille::alltoall {

// Every rank sends to r + 1, r + 2, ... and receives from r - 1, r - 2, ..., `at_once` messages in each direction; the
// next ones when all of these are complete.
inline void rotate(Builder& builder, const Problem& problem, std::int64_t at_once) {
  builder.copy(problem.input_block(problem.rank), problem.output_block(problem.rank));
  for (Rank distance = 1; distance < problem.ranks; ++distance) {
    const Rank from = patterns::at_distance(problem.rank, -distance, problem.ranks);
    const Rank to = patterns::at_distance(problem.rank, distance, problem.ranks);
    builder.receive(from, problem.output_block(from));
    builder.send(to, problem.input_block(to));
    if (distance % at_once == 0) builder.fence();
  }
}

}  // namespace quadrille::alltoall
