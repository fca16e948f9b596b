// Pipelined chain broadcast: the ranks form a chain and forward the data in segments, so that all links are busy once
// the first segment has reached the end.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Tree chain = patterns::chain(problem.rank, problem.ranks, problem.root);
  builder.for_each_segment(problem.count, problem.segment, problem.window, [&](const Segment& segment) {
    if (chain.parent) builder.receive(*chain.parent, segment.of(problem.output));
    for (Rank next : chain.children) builder.send(next, segment.of(problem.output));
  });
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t segments = patterns::segments(problem.count, problem.segment);
  return {
      .steps = others == 0 ? 0 : others - 1 + segments, .messages = others * segments, .units = others * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  out.pipeline(rounds::segments(problem),
               [&] { out.chain(rounds::segment_units(problem), {.hops = rounds::number(problem.ranks - 1)}); });
}

}  // namespace

extern const Algorithm pipelined_chain = {
    .collective = Collective::bcast,
    .name = "pipelined_chain",
    .summary = "segments move along a chain of ranks, with all links busy",
    .paper = "",
    .steps = "p - 2 + m",
    .cost = "(p - 2 + m)(a + n/m b)",
    .scratch = "0",
    .restrictions = {},
    .segmented = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
