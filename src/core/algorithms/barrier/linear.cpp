// Linear barrier: every rank signals rank 0 that it has arrived; when all have, rank 0 releases them in turn.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "patterns/trees.hpp"

namespace quadrille::barrier {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = patterns::linear_tree(problem.rank, problem.ranks, 0);
  for (Rank child : tree.children) builder.receive_signal(child);
  if (tree.parent) {
    builder.send_signal(*tree.parent);
    builder.receive_signal(*tree.parent);
  }
  builder.fence();
  for (Rank child : tree.children) builder.send_signal(child);
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = 2 * others, .messages = 2 * others, .units = 0};
}

void outline(const Problem&, Outline& out) {
  out.star(0, Outline::Way::in);
  out.star(0, Outline::Way::out);
}

}  // namespace

extern const Algorithm linear = {
    .collective = Collective::barrier,
    .name = "linear",
    .summary = "every rank signals rank 0, which releases all of them in turn",
    .paper = "",
    .steps = "2(p - 1)",
    .cost = "2(p - 1) a",
    .scratch = "0",
    .restrictions = {},
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::barrier
