// k-nomial one-sided broadcast: the binomial tree with k - 1 targets per rank and round instead of one.
//
// Data in a window; any number of ranks; k is the width, as in one_sided_knomial:8; default 4. No scratch.

#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  one_sided::broadcast(builder, problem,
                       patterns::knomial_tree(problem.rank, problem.ranks, problem.root, problem.width));
}

Prediction predict(const Problem& problem) {
  return one_sided::predict_broadcast(
      problem, [&](Rank rank) { return patterns::knomial_tree(rank, problem.ranks, 0, problem.width); });
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

extern const Algorithm one_sided_knomial = {
    .collective = Collective::bcast,
    .name = "one_sided_knomial",
    .summary = "the number of windows with the data is multiplied by k in each round",
    .paper = "",
    .steps = "at most m (k - 1) ceil(log_k p)",
    .cost = "steps (a + n/m b)",
    .scratch = "0",
    .restrictions = {.exposed = true},
    .logarithmic = true,
    .segmented = true,
    .width = 4,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
