#include "verify/matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/catalogue.hpp"

namespace quadrille::verify {
namespace {

// A case with the schedules of the strictest order is covered by the case of that order, which must exist.
TEST(Matrix, HoldsTheStrictestOrderOfEveryReduction) {
  for (const Algorithm* algorithm : catalogue()) {
    if (!traits(algorithm->collective).reduces) continue;
    for (Rank ranks : {1, 5, 64, 65, 128}) {
      const std::vector<Case> all = cases(*algorithm, ranks);
      for (const Case& one : all) {
        Problem strict = one.problem;
        strict.commutative = false;
        strict.fixed_order = algorithm->fixed_order;
        if (!refusal(*algorithm, strict).empty()) continue;
        const bool there = std::any_of(all.begin(), all.end(), [&](const Case& other) {
          const Problem& problem = other.problem;
          return problem.commutative == strict.commutative && problem.fixed_order == strict.fixed_order &&
                 problem.count == strict.count && problem.root == strict.root && problem.in_place == strict.in_place &&
                 problem.segment == strict.segment && problem.width == strict.width && other.uneven == one.uneven;
        });
        EXPECT_TRUE(there) << describe(one);
      }
    }
  }
}

}  // namespace
}  // namespace quadrille::verify
