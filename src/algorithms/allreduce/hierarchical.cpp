// Hierarchical allreduce, IBM's four-level one for any number of levels: the ranks of a node reduce in shared memory,
// leaders reduce up to the level below the top, where they run an allreduce, and the result goes down again the same
// way. On one node every rank takes the result straight from shared memory.
//
// Cost: inside a node of k ranks 2 n b + n/k (k - 1) c, between leaders as recursive doubling or rabenseifner. Any
// number of ranks and levels; operations that do not commute where the ranks of a node follow one another. Scratch: n,
// and on leaders 2 n for each level.

#include "algorithms/hierarchy.hpp"

namespace quadrille::allreduce {

namespace {

void build_on_one_node(Builder& builder, const Problem& problem) {
  const node::Cut cut = node::Cut::of(problem.count, problem.room);
  const node::Reduce together(builder, cut);
  builder.for_each_segment(problem.count, cut.piece, problem.window, [&](const Segment& segment) {
    together.to_all(builder, segment, segment.of(problem.input), segment.of(problem.output));
  });
}

void build(Builder& builder, const Problem& problem) {
  if (node::ranks_of(problem).size() == problem.ranks && node::shares_memory(problem)) {
    return build_on_one_node(builder, problem);
  }
  Problem one_way = problem;
  one_way.room /= 2;
  const hierarchy::ReduceInside reduce_inside(builder, one_way);
  const hierarchy::BcastInside bcast_inside(builder, one_way);
  const auto levels = compose::levels_of(problem);
  const auto at_the_top =
      hierarchy::by(Collective::allreduce, hierarchy::is_short(problem) ? "recursive_doubling" : "rabenseifner");
  const auto back = hierarchy::by(Collective::bcast, "binomial");

  reduce_inside(builder, problem.output);
  for (std::size_t i = levels.size(); i-- > 0;) {
    const compose::Level& level = levels[i];
    if (level.number > 0) {
      compose::on(builder, level.leaders, hierarchy::channel_up(level),
                  hierarchy::reduce_among_leaders(problem, level, problem.output), hierarchy::reduce_by(problem));
    } else {
      compose::on(builder, level.leaders, hierarchy::channel_up(level),
                  hierarchy::among_leaders(problem, level, problem.output), at_the_top);
    }
  }
  for (const compose::Level& level : levels) {
    if (level.number == 0) continue;
    compose::on(builder, level.leaders, hierarchy::channel_down(level),
                hierarchy::among_leaders(problem, level, problem.output), back);
  }
  bcast_inside(builder, problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  return problem.ranks == 1 ? 0 : problem.count + hierarchy::reduce_scratch_units(problem);
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::allreduce,
    .name = "hierarchical",
    .summary = "reduced in shared memory inside nodes, then between leaders, and handed out the same way",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "n, and 2 n for each level",
    .restrictions = {.ordered_nodes = true},
    .hierarchical = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = scratch_units,
};

}  // namespace quadrille::allreduce
