// Pipelined chain of one-sided transfers: every rank puts each segment into the memory of the next.
//
// Data in a window; any number of ranks. No scratch.

#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  one_sided::broadcast(builder, problem, patterns::chain(problem.rank, problem.ranks, problem.root));
}

Prediction predict(const Problem& problem) {
  return one_sided::predict_broadcast(problem, [&](Rank rank) { return patterns::chain(rank, problem.ranks, 0); });
}

void outline(const Problem& problem, Outline& out) {
  out.pipeline(rounds::segments(problem),
               [&] { out.chain(rounds::segment_units(problem), {.hops = rounds::number(problem.ranks - 1)}); });
}

}  // namespace

extern const Algorithm one_sided_chain = {
    .collective = Collective::bcast,
    .name = "one_sided_chain",
    .summary = "segments are put along a chain of windows, with all links busy",
    .paper = "",
    .steps = "p - 2 + m",
    .cost = "(p - 2 + m)(a + n/m b)",
    .scratch = "0",
    .restrictions = {.exposed = true},
    .segmented = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
