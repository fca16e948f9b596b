// Binomial broadcast: every rank that has the data sends it on, so that the number of such ranks doubles in each step;
// the largest subtree comes first.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/children.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = patterns::binomial_tree(problem.rank, problem.ranks, problem.root);
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

}  // namespace

extern const Algorithm binomial = {
    .collective = Collective::bcast,
    .name = "binomial",
    .summary = "the number of ranks with the data doubles in each step",
    .paper = "Johnsson, Ho: Optimum broadcasting and personalized communication in hypercubes, 1989",
    .steps = "ceil(log2 p)",
    .cost = "ceil(log2 p)(a + n b)",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::bcast
