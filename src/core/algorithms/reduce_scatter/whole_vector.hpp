#pragma once

#include <vector>

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"

namespace quadrille::reduce_scatter {

// The problem of a reduce-scatter as that of its whole vector, which is accumulated outside the caller's buffers.
inline Problem whole_vector(const Problem& problem) {
  Problem vector = problem;
  vector.count = problem.total();
  vector.in_place = false;
  vector.output.length = 0;
  return vector;
}

inline std::int64_t whole_vector_scratch(const Problem& problem) {
  return Accumulator::scratch_units_without_output(whole_vector(problem));
}

inline std::vector<Region> regions(const Region& vector, const std::vector<Range>& parts) {
  std::vector<Region> all;
  for (const Range& part : parts) all.push_back(vector.part(part));
  return all;
}

// A reduce-scatter among the corners of a hypercube for any number of ranks: a rank that is not a corner sends its data
// to its representative, and receives its share from it. `among_corners` leaves the shares of a corner, and of the rank
// that it represents, in the result.
template <class AmongCorners>
void on_hypercube(Builder& builder, const Problem& problem, AmongCorners&& among_corners) {
  const patterns::Hypercube cube(problem.ranks);
  if (const auto representative = cube.represented_by(problem.rank)) {
    builder.send(*representative, problem.input);
    builder.receive(*representative, problem.output);
    return;
  }
  const Problem vector = whole_vector(problem);
  Accumulator result(builder, vector);
  combine_represented(builder, vector, cube, result);
  among_corners(cube, result);
  builder.copy(result.value(problem.share(problem.rank)), problem.output);
  if (const auto represented = cube.represents(problem.rank)) {
    builder.send(*represented, result.value(problem.share(*represented)));
  }
}

// Of one that exchanges half of what is left in each dimension.
inline Prediction predict_halving_on_hypercube(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  std::int64_t handed_out = 0;
  for (Rank corner = 0; corner < cube.extra(); ++corner) {
    const Range share = problem.share(2 * corner);
    handed_out += share.end - share.begin;
  }
  return {.steps = cube.dimensions() + (cube.extra() > 0 ? 2 : 0),
          .messages = std::int64_t{cube.corners()} * cube.dimensions() + 2 * cube.extra(),
          .units = problem.total() * (cube.corners() - 1 + cube.extra()) + handed_out};
}

}  // namespace quadrille::reduce_scatter
