#pragma once

#include <vector>

#include "algorithms/accumulator.hpp"

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

}  // namespace quadrille::reduce_scatter
