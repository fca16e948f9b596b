// Chain reduce of Open MPI: the data moves from the rank before the root down to the root, each rank combining its own.
//
// Any number of ranks; commutative operations. Scratch: 2 n.

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/trees.hpp"

namespace quadrille::reduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree line = patterns::chain(problem.rank, problem.ranks, problem.root);
  reduce_by_tree(builder, problem, line.parent, line.children, Accumulator::Side::higher, problem.root);
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  out.chain(n, {.hops = rounds::number(problem.ranks - 1), .reduced = n});
}

}  // namespace

extern const Algorithm descending_chain = {
    .collective = Collective::reduce,
    .name = "descending_chain",
    .summary = "partial results move down a chain of ranks, from the one before the root to the root",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b + n c)",
    .scratch = "2 n",
    .restrictions = {.commutative = true},
    .offered = false,
    .build = build,
    .predict = predict_linear,
    .scratch_units = Accumulator::scratch_units_without_output,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce
