// Tree barrier: arrivals propagate up a binomial tree, and the release propagates down. Fewer messages than
// dissemination, but twice the steps.
//
// Steps: 2 ceil(log2 p). Cost: 2 ceil(log2 p) a. Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::barrier {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = patterns::binomial_tree(problem.rank, problem.ranks, 0);
  for (Rank child : tree.backwards()) builder.receive_signal(child);
  builder.fence();
  if (tree.parent) {
    builder.send_signal(*tree.parent);
    builder.receive_signal(*tree.parent);
    builder.fence();
  }
  for (Rank child : tree.children) builder.send_signal(child);
}

Prediction predict(const Problem& problem) {
  return {
      .steps = 2 * patterns::ceil_log2(problem.ranks), .messages = 2 * (std::int64_t{problem.ranks} - 1), .units = 0};
}

void outline(const Problem& problem, Outline& out) {
  rounds::up(out, problem.ranks, [](Rank) { return 0; });
  rounds::down(out, problem.ranks, [](Rank) { return 0; });
}

}  // namespace

extern const Algorithm tree = {
    .collective = Collective::barrier,
    .name = "tree",
    .summary = "arrivals propagate up a binomial tree, the release down",
    .paper = "Mellor-Crummey, Scott: Algorithms for scalable synchronization on shared-memory multiprocessors, 1991",
    .steps = "2 ceil(log2 p)",
    .cost = "2 ceil(log2 p) a",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::barrier
