#pragma once

#include "algorithms/algorithm.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille {

// Common to gather and scatter over a binomial tree: the blocks of a subtree, whose ranks are consecutive, move
// together.

inline std::int64_t subtree_scratch(const Problem& problem) {
  return patterns::largest_binomial_branch(problem.ranks) * problem.count;
}

inline Prediction predict_subtrees(const Problem& problem) {
  return {.steps = patterns::ceil_log2(problem.ranks),
          .messages = problem.ranks - 1,
          .units = patterns::binomial_depths(problem.ranks) * problem.count};
}

}  // namespace quadrille
