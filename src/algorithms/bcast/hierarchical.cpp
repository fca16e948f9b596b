// Hierarchical broadcast: the data goes down the levels of the machine, between the leaders of racks, then of nodes,
// then inside each node, where the leader puts it into shared memory and all others take it out at once. It is cut into
// segments, so that the levels work at the same time: a chain between leaders where there are many segments, else a
// binomial tree. Every byte enters a node once. The root leads wherever it is inside.
//
// Steps: for m segments and l_i leaders in the groups of level i, sum of l_i - 1 + m - 1 in chains. Any number of ranks
// and levels. No scratch; without shared memory a binomial tree inside a node.

#include <algorithm>

#include "algorithms/hierarchy.hpp"

namespace quadrille::bcast {

namespace {

// A chain through l nodes takes l - 2 segments longer than its data: with 4 l of them, at most a quarter. Shorter ones
// than an eighth of what was wished for would cost more than that.
Problem cut_for_chains(const Problem& problem) {
  const Rank nodes = hierarchy::leaders_of_nodes(problem).leaders.size();
  if (nodes <= 2 || problem.segment <= 0) return problem;
  Problem cut = problem;
  const std::int64_t least = std::max<std::int64_t>(1, problem.segment / 8);
  cut.segment = std::clamp(problem.count / (4 * nodes), least, problem.segment);
  return cut;
}

void build(Builder& builder, const Problem& problem) {
  const hierarchy::BcastInside inside(builder, cut_for_chains(problem));
  const auto levels = compose::levels_of(problem);
  const compose::Part among =
      hierarchy::by(Collective::bcast, inside.cut().pieces > 1 ? "pipelined_chain" : "binomial");
  builder.for_each_segment(problem.count, inside.cut().piece, 4 * problem.window, [&](const Segment& segment) {
    const Region piece = segment.of(problem.output);
    for (const compose::Level& level : levels) {
      compose::on(builder, level.leaders, hierarchy::channel_down(level),
                  hierarchy::among_leaders(problem, level, piece), among);
    }
    inside(builder, segment, piece);
  });
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
