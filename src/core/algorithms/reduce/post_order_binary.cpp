// In-order binary reduce of Open MPI: a binary tree numbered in post order, in which the ranks below a vertex are those
// right before it, so that rank order is preserved. Its root is the last rank, which sends the result to the root.
//
// Any number of ranks, any operation. Scratch: 2 n.

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::reduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = patterns::post_order_binary_tree(problem.rank, problem.ranks);
  reduce_by_tree(builder, problem, tree.parent, tree.children, Accumulator::Side::lower, problem.ranks - 1);
}

Prediction predict(const Problem& problem) {
  const Rank top = problem.ranks - 1;
  const std::int64_t detour = top == problem.root ? 0 : 1;
  const std::int64_t messages = problem.ranks - 1 + detour;
  const std::int64_t steps =
      patterns::reduction_steps(top, [&](Rank rank) { return patterns::post_order_binary_tree(rank, problem.ranks); });
  return {.steps = steps + detour, .messages = messages, .units = messages * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  for (Rank distance = 1; 2 * distance <= problem.ranks; distance *= 2) {
    out.chain(n, {.hops = 1, .reduced = n, .fan = 2, .distance = distance});
  }
  if (problem.root != problem.ranks - 1) out.chain(n, {.hops = 1, .distance = problem.ranks / 2 | 1});
}

}  // namespace

extern const Algorithm post_order_binary = {
    .collective = Collective::reduce,
    .name = "post_order_binary",
    .summary = "partial results move up a binary tree in rank order to the last rank, and from there to the root",
    .paper = "Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, 2007",
    .steps = "at most 2 floor(log2 p), + 1 if the root is not the last rank",
    .cost = "steps (a + n b + n c)",
    .scratch = "2 n",
    .restrictions = {},
    .logarithmic = true,
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = Accumulator::scratch_units_without_output,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce
