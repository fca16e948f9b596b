// Binomial reduce: partial results move up a binomial tree. A subtree consists of consecutive ranks, counted from the
// tree's root, and is the right operand. If the operation is not commutative, the tree's root is rank 0, to preserve
// rank order, and the result takes one more step to the root. In libNBC's tree rank 0 and the root have changed places.
//
// Any number of ranks, any operation. Scratch: 2 n.

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/exchanged.hpp"
#include "patterns/trees.hpp"

namespace quadrille::reduce {

namespace {

Rank top_of(const Problem& problem) {
  return problem.commutative ? problem.root : 0;
}

void build(Builder& builder, const Problem& problem) {
  const Rank top = top_of(problem);
  const patterns::Tree tree = patterns::binomial_tree(problem.rank, problem.ranks, top);
  reduce_by_tree(builder, problem, tree.parent, tree.backwards(), Accumulator::Side::higher, top);
}

Prediction predict(const Problem& problem) {
  const std::int64_t detour = top_of(problem) == problem.root ? 0 : 1;
  const std::int64_t messages = problem.ranks - 1 + detour;
  return {
      .steps = patterns::ceil_log2(problem.ranks) + detour, .messages = messages, .units = messages * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  rounds::up(
      out, problem.ranks, [&](Rank) { return n; }, n);
  if (top_of(problem) != problem.root) out.tree(1, n);
}

void build_exchanged(Builder& builder, const Problem& problem) {
  const patterns::Tree tree =
      patterns::root_exchanged<patterns::binomial_tree>(problem.rank, problem.ranks, problem.root);
  reduce_by_tree(builder, problem, tree.parent, tree.backwards(), Accumulator::Side::higher, problem.root);
}

}  // namespace

extern constexpr Algorithm binomial = {
    .collective = Collective::reduce,
    .name = "binomial",
    .summary = "partial results move up a binomial tree",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "ceil(log2 p), + 1 if not commutative and the root is not rank 0",
    .cost = "steps (a + n b) + ceil(log2 p) n c",
    .scratch = "2 n",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = Accumulator::scratch_units_without_output,
    .outline = outline,
    .scales = at_any_size,
};

extern const Algorithm exchanged_binomial = [] {
  Algorithm algorithm = binomial;
  algorithm.name = "exchanged_binomial";
  algorithm.summary = "partial results move up the binomial tree of rank 0, with which the root changes places";
  algorithm.paper =
      "Hoefler, Lumsdaine, Rehm: Implementation and performance analysis of non-blocking collective "
      "operations for MPI, 2007";
  algorithm.steps = "ceil(log2 p)";
  algorithm.restrictions.commutative = true;
  algorithm.offered = false;
  algorithm.build = build_exchanged;
  return algorithm;
}();

}  // namespace quadrille::reduce
