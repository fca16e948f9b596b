// Binomial broadcast: every rank that has the data sends it on, so that the number of such ranks doubles in each step;
// the largest subtree comes first. Distances are halved from step to step, so that a subtree is a row of ranks; Open
// MPI doubles them. In libNBC's tree, which has doubling distances, too, rank 0 and the root have changed places.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/children.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/exchanged.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

using TreeOf = patterns::Tree (*)(Rank rank, Rank ranks, Rank root);

template <TreeOf tree_of>
void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = tree_of(problem.rank, problem.ranks, problem.root);
  if (tree.parent) builder.receive(*tree.parent, problem.output);
  send_in_turn(builder, tree, [&](Rank child) { builder.send(child, problem.output); });
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = patterns::ceil_log2(problem.ranks), .messages = others, .units = others * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  rounds::down(out, problem.ranks, [&](Rank) { return rounds::number(problem.count); });
}

// In a round the first ranks send, and all of a node do.
void outline_doubling(const Problem& problem, Outline& out) {
  for (std::int64_t distance = 1; distance < problem.ranks; distance *= 2) {
    out.exchange(static_cast<Rank>(distance), rounds::number(problem.count));
  }
}

}  // namespace

extern constexpr Algorithm binomial = {
    .collective = Collective::bcast,
    .name = "binomial",
    .summary = "the number of ranks with the data doubles in each step",
    .paper = "Johnsson, Ho: Optimum broadcasting and personalized communication in hypercubes, 1989",
    .steps = "ceil(log2 p)",
    .cost = "ceil(log2 p)(a + n b)",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .build = build<patterns::binomial_tree>,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

extern const Algorithm doubling_binomial = [] {
  Algorithm algorithm = binomial;
  algorithm.name = "doubling_binomial";
  algorithm.summary = "the number of ranks with the data doubles in each step, and so does the distance they send it";
  algorithm.offered = false;
  algorithm.build = build<patterns::doubling_binomial_tree>;
  algorithm.outline = outline_doubling;
  return algorithm;
}();

extern const Algorithm exchanged_binomial = [] {
  Algorithm algorithm = binomial;
  algorithm.name = "exchanged_binomial";
  algorithm.summary = "doubling distances from rank 0, with which the root changes places";
  algorithm.paper =
      "Hoefler, Lumsdaine, Rehm: Implementation and performance analysis of non-blocking collective "
      "operations for MPI, 2007";
  algorithm.offered = false;
  algorithm.build = build<patterns::root_exchanged<patterns::doubling_binomial_tree>>;
  algorithm.outline = outline_doubling;
  return algorithm;
}();

}  // namespace quadrille::bcast
