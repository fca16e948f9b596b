// k-nomial broadcast: the binomial tree with k - 1 receivers in place of one for each rank in a round. Flatter and
// wider: it pays where a rank can have several messages on their way at once.
//
// Steps: at most (k - 1) ceil(log_k p). Cost: steps (a + n b). Any number of ranks; k is the number behind the name, as
// in knomial:8, 4 without one. No scratch.

#include "algorithms/algorithm.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = patterns::knomial_tree(problem.rank, problem.ranks, problem.root, problem.width);
  if (tree.parent) builder.receive(*tree.parent, problem.output);
  for (Rank child : tree.children) builder.send(child, problem.output);
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t steps = patterns::broadcast_steps(
      problem.ranks, [&](Rank rank) { return patterns::knomial_tree(rank, problem.ranks, 0, problem.width); });
  return {.steps = steps, .messages = others, .units = others * problem.count};
}

}  // namespace

extern const Algorithm knomial = {
    .collective = Collective::bcast,
    .name = "knomial",
    .summary = "the ranks that have the data become k times as many in each round",
    .paper = "",
    .steps = "at most (k - 1) ceil(log_k p)",
    .cost = "steps (a + n b)",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .width = 4,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
};

}  // namespace quadrille::bcast
