// Pipelined binary broadcast: every rank forwards each segment to two others. The pipeline is as short as the tree is
// low, but each rank sends the data twice. In Open MPI's tree subtrees are interleaved.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

using TreeOf = patterns::Tree (*)(Rank rank, Rank ranks, Rank root);

template <TreeOf tree_of>
void build(Builder& builder, const Problem& problem) {
  const patterns::Tree tree = tree_of(problem.rank, problem.ranks, problem.root);
  builder.for_each_segment(problem.count, problem.segment, problem.window, [&](const Segment& segment) {
    if (tree.parent) builder.receive(*tree.parent, segment.of(problem.output));
    for (Rank child : tree.children) builder.send(child, segment.of(problem.output));
  });
}

template <TreeOf tree_of>
Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t segments = patterns::segments(problem.count, problem.segment);
  const std::int64_t first =
      patterns::broadcast_steps(problem.ranks, [&](Rank rank) { return tree_of(rank, problem.ranks, 0); });
  const std::int64_t interval = others > 1 ? 2 : others;
  return {.steps = first + interval * (segments - 1), .messages = others * segments, .units = others * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double depth = patterns::floor_log2(problem.ranks);
  out.pipeline(rounds::segments(problem), [&] {
    out.chain(rounds::segment_units(problem), {.hops = depth, .fan = 2, .distance = problem.ranks / 2 | 1});
  });
}

}  // namespace

extern constexpr Algorithm binary = {
    .collective = Collective::bcast,
    .name = "binary",
    .summary = "segments move down a binary tree",
    .paper = "Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, 2007",
    .steps = "at most 2 log2(p + 1) - 2 + 2(m - 1)",
    .cost = "steps (a + n/m b)",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .segmented = true,
    .build = build<patterns::binary_tree>,
    .predict = predict<patterns::binary_tree>,
    .scratch_units = no_scratch,
    .outline = outline,
};

extern const Algorithm interleaved_binary = [] {
  Algorithm algorithm = binary;
  algorithm.name = "interleaved_binary";
  algorithm.summary = "segments move down a binary tree whose subtrees are interleaved";
  algorithm.offered = false;
  algorithm.build = build<patterns::interleaved_binary_tree>;
  algorithm.predict = predict<patterns::interleaved_binary_tree>;
  return algorithm;
}();

}  // namespace quadrille::bcast
