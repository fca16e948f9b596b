// Hierarchical broadcast: the data moves down the levels of the machine, between the leaders of racks, then of nodes,
// then inside each node, where the leader copies it into shared memory and all others copy it out concurrently. Long
// data moves in segments through chains of leaders, so that all levels overlap. Data too short to fill a chain moves
// level by level: by scatter and recursive doubling or, if very short, by binomial trees. The root is the leader of all
// its domains.
//
// Steps: for m segments and l_i leaders in the groups of level i, sum of l_i - 1 + m - 1 in chains. Any number of ranks
// and levels. No scratch; without shared memory a binomial tree inside a node.

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::bcast {

namespace {

bool is_very_short(const Problem& problem) {
  return problem.segment <= 0 || problem.count <= hierarchy::shortest_segment(problem);
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
  const bool very_short = is_very_short(problem);
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

void outline(const Problem& problem, Outline& out) {
  const int levels = hierarchy::levels_above_nodes(problem);
  Problem cut = problem;
  cut.segment = hierarchy::chain_segment(problem);
  if (cut.segment > 0) {
    out.pipeline(rounds::segments(cut), [&] {
      const double segment = rounds::segment_units(cut);
      for (int level = 0; level < levels; ++level) {
        out.among_leaders(level, [&](Rank leaders) { out.chain(segment, {.hops = rounds::number(leaders - 1)}); });
      }
      hierarchy::outline_bcast_inside(cut, segment, out);
    });
    return;
  }
  const bool very_short = is_very_short(problem);
  for (int level = 0; level < levels; ++level) {
    out.among_leaders(level, [&](Rank leaders) {
      hierarchy::outline_by(Collective::bcast, very_short ? "binomial" : "scatter_doubling", problem, leaders,
                            problem.count, out);
    });
  }
  hierarchy::outline_bcast_inside(problem, rounds::number(problem.count), out);
}

// In one piece.
bool scales(const Problem& problem) {
  return is_very_short(problem) && problem.count <= problem.room;
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::bcast,
    .name = "hierarchical",
    .summary = "down the levels of the machine in segments, through shared memory inside nodes",
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
    .outline = outline,
    .scales = scales,
};

}  // namespace quadrille::bcast
