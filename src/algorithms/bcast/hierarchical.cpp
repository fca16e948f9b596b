// Hierarchical broadcast: the data goes down the levels of the machine, between the leaders of racks, then of nodes,
// then inside each node, where the leader puts it into shared memory and all others take it out at once. Long data is
// cut into segments and goes through chains of leaders, so that all levels work at the same time. What is too short to
// fill a chain goes down level by level: scattered and gathered again by doubling, or, very short, by binomial trees.
// The root leads wherever it is inside.
//
// Steps: for m segments and l_i leaders in the groups of level i, sum of l_i - 1 + m - 1 in chains. Any number of ranks
// and levels. No scratch; without shared memory a binomial tree inside a node.

#include <algorithm>

#include "algorithms/hierarchy.hpp"
#include "patterns/ring.hpp"

namespace quadrille::bcast {

namespace {

std::int64_t shortest_segment(const Problem& problem) {
  return std::max<std::int64_t>(1, problem.segment / 8);
}

// A chain through l nodes takes l - 2 segments longer than its data: with 4 l of them, at most a quarter. Inside one
// node the root fills a piece while the others empty the one before. Shorter ones than an eighth of what was wished for
// would cost more than that.
std::int64_t segment_for(const Problem& problem, Rank nodes) {
  if (problem.segment <= 0) return problem.segment;
  return std::clamp(problem.count / (4 * std::max(nodes, 2)), shortest_segment(problem), problem.segment);
}

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
  const bool very_short = problem.segment <= 0 || problem.count <= shortest_segment(problem);
  const compose::Part whole = hierarchy::by(Collective::bcast, very_short ? "binomial" : "scatter_doubling");
  for (const compose::Level& level : compose::levels_of(problem)) {
    compose::on(builder, level.leaders, hierarchy::channel_down(level),
                hierarchy::among_leaders(problem, level, problem.output), whole);
  }
  inside(builder, problem.output);
}

void build(Builder& builder, const Problem& problem) {
  const Rank nodes = hierarchy::leaders_of_nodes(problem).leaders.size();
  Problem cut = problem;
  cut.segment = segment_for(problem, nodes);
  const bool fills_chains = cut.segment > 0 && patterns::segments(problem.count, cut.segment) > nodes;
  if (!fills_chains) cut.segment = problem.segment;
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
