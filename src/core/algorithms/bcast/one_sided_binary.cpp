// Binary one-sided broadcast: every rank puts each segment into the memory of two others.
//
// Data in a window; any number of ranks. No scratch.

#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  one_sided::broadcast(builder, problem, patterns::binary_tree(problem.rank, problem.ranks, problem.root));
}

Prediction predict(const Problem& problem) {
  return one_sided::predict_broadcast(problem,
                                      [&](Rank rank) { return patterns::binary_tree(rank, problem.ranks, 0); });
}

void outline(const Problem& problem, Outline& out) {
  const double depth = patterns::floor_log2(problem.ranks);
  out.pipeline(rounds::segments(problem), [&] {
    out.chain(rounds::segment_units(problem), {.hops = depth, .fan = 2, .distance = problem.ranks / 2 | 1});
  });
}

}  // namespace

extern const Algorithm one_sided_binary = {
    .collective = Collective::bcast,
    .name = "one_sided_binary",
    .summary = "segments are put down a binary tree of windows",
    .paper = "Abuelsoud, Paznikov: Improving MPI remote memory access by one-sided broadcast",
    .steps = "at most 2 log2(p + 1) - 2 + 2(m - 1)",
    .cost = "steps (a + n/m b)",
    .scratch = "0",
    .restrictions = {.exposed = true},
    .logarithmic = true,
    .segmented = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
