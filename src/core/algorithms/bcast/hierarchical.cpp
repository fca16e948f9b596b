// Hierarchical broadcast: the data goes down the levels of the machine, between the leaders of racks, then of nodes,
// then inside each node, where the leader puts it into shared memory and all others take it out at once. Long data is
// cut into segments and goes through chains of leaders, so that all levels work at the same time. What is too short to
// fill a chain goes down level by level: scattered and gathered again by doubling, or, very short, by binomial trees.
// The root leads wherever it is inside.
//
// Steps: for m segments and l_i leaders in the groups of level i, sum of l_i - 1 + m - 1 in chains. Any number of ranks
// and levels. No scratch; without shared memory a binomial tree inside a node.

#include "algorithms/hierarchy.hpp"

namespace quadrille::bcast {

namespace {

void through_chains(Builder& builder, const Problem& problem, const hierarchy::BcastInside& inside) {
  const auto levels = compose::levels_of(problem);
  const compose::Part chain = hierarchy::by(Collective::bcast, "pipelined_chain");
  builder.for_each_segment(problem.count, inside.cut().piece, 4 * problem.window, [&](const Segment& segment) {
    const Region piece = segment.of(problem.output);
    for (const compose::Level& level : levels) {
      compose::on(builder, level.leaders, hierarchy::channel_down(level),
                  hierarchy::among_leaders(problem, level, piece), chain);
    }
    inside(builder, segment, piece);
  });
}

void level_by_level(Builder& builder, const Problem& problem, const hierarchy::BcastInside& inside) {
  const bool very_short = problem.segment <= 0 || problem.count <= hierarchy::shortest_segment(problem);
  const compose::Part whole = hierarchy::by(Collective::bcast, very_short ? "binomial" : "scatter_doubling");
  for (const compose::Level& level : compose::levels_of(problem)) {
    compose::on(builder, level.leaders, hierarchy::channel_down(level),
                hierarchy::among_leaders(problem, level, problem.output), whole);
  }
  inside(builder, problem.output);
}

void build(Builder& builder, const Problem& problem) {
  const std::int64_t segment = hierarchy::chain_segment(problem);
  const bool fills_chains = segment > 0;
  Problem cut = problem;
  if (fills_chains) cut.segment = segment;
  const hierarchy::BcastInside inside(builder, cut);
  if (fills_chains) {
    through_chains(builder, problem, inside);
  } else {
    level_by_level(builder, problem, inside);
  }
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::bcast,
    .name = "hierarchical",
    .summary = "down the levels of the machine in segments, inside a node through shared memory",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "0",
    .restrictions = {},
    .segmented = true,
    .hierarchical = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = no_scratch,
};

}  // namespace quadrille::bcast
