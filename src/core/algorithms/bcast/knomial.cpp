// k-nomial broadcast: the binomial tree with k - 1 receivers per rank and round instead of one. A wider and flatter
// tree, useful if a rank can have several messages in flight.
//
// Any number of ranks; k is the width, as in knomial:8; default 4. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/children.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = patterns::knomial_tree(problem.rank, problem.ranks, problem.root, problem.width);
  if (tree.parent) builder.receive(*tree.parent, problem.output);
  send_in_turn(builder, tree, [&](Rank child) { builder.send(child, problem.output); });
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t steps = patterns::broadcast_steps(
      problem.ranks, [&](Rank rank) { return patterns::knomial_tree(rank, problem.ranks, 0, problem.width); });
  return {.steps = steps, .messages = others, .units = others * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  std::int64_t distance = 1;
  while (distance * problem.width < problem.ranks) distance *= problem.width;
  for (; distance >= 1; distance /= problem.width) {
    const std::int64_t children = std::min<std::int64_t>(problem.width - 1, (problem.ranks - 1) / distance);
    out.pipeline(children, [&] { out.tree(static_cast<Rank>(distance), rounds::number(problem.count)); });
  }
}

}  // namespace

extern const Algorithm knomial = {
    .collective = Collective::bcast,
    .name = "knomial",
    .summary = "the number of ranks with the data is multiplied by k in each round",
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
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::bcast
