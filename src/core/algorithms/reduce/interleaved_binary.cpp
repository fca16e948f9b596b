// Binary reduce of Open MPI: partial results move up a binary tree whose subtrees are interleaved.
//
// Any number of ranks; commutative operations. Scratch: 2 n.

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::reduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = patterns::interleaved_binary_tree(problem.rank, problem.ranks, problem.root);
  reduce_by_tree(builder, problem, tree.parent, tree.children, Accumulator::Side::higher, problem.root);
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t steps = patterns::reduction_steps(
      0, [&](Rank rank) { return patterns::interleaved_binary_tree(rank, problem.ranks, 0); });
  return {.steps = steps, .messages = others, .units = others * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  const double depth = patterns::floor_log2(problem.ranks);
  out.chain(n, {.hops = depth, .reduced = n, .fan = 2, .distance = problem.ranks / 2 | 1});
}

}  // namespace

extern const Algorithm interleaved_binary = {
    .collective = Collective::reduce,
    .name = "interleaved_binary",
    .summary = "partial results move up a binary tree whose subtrees are interleaved",
    .paper = "Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, 2007",
    .steps = "at most 2 floor(log2 p)",
    .cost = "steps (a + n b + n c)",
    .scratch = "2 n",
    .restrictions = {.commutative = true},
    .logarithmic = true,
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = Accumulator::scratch_units_without_output,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce
