// Linear broadcast: the root sends the data to every rank in turn.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = patterns::linear_tree(problem.rank, problem.ranks, problem.root);
  if (tree.parent) builder.receive(*tree.parent, problem.output);
  for (Rank child : tree.children) builder.send(child, problem.output);
}

void outline(const Problem& problem, Outline& out) {
  out.star(rounds::number(problem.count), Outline::Way::out);
}

}  // namespace

extern const Algorithm linear = {
    .collective = Collective::bcast,
    .name = "linear",
    .summary = "the root sends to every rank in turn",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {},
    .build = build,
    .predict = predict_linear,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::bcast
