// Hierarchical reduce: the ranks of a node reduce in shared memory, each a share of every piece, to the node's leader;
// the leaders of nodes reduce to those of racks, and so on up to the root, which is the leader of all its domains.
//
// Cost: inside a node of k ranks n b + n/k (k - 1) c, between leaders as binomial, rabenseifner or, with long data and
// a commutative operation, pipelined_chain. Any number of ranks and levels; non-commutative operations only if the
// ranks of every node are consecutive. Scratch: n, and on leaders 2 n for each level.

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"

namespace quadrille::reduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  const hierarchy::ReduceInside inside(builder, problem);
  const auto levels = compose::levels_of(problem);
  Region result = problem.output;
  if (problem.rank == node::leader_of(problem) && !problem.has_output()) result = builder.scratch(problem.count);

  inside(builder, result);
  for (std::size_t i = levels.size(); i-- > 0;) {
    compose::on(builder, levels[i].leaders, hierarchy::channel_up(levels[i]),
                hierarchy::reduce_among_leaders(problem, levels[i], result), hierarchy::reduce_by(problem));
  }
}

std::int64_t scratch_units(const Problem& problem) {
  return problem.ranks == 1 ? 0 : problem.count + hierarchy::reduce_scratch_units(problem);
}

void outline(const Problem& problem, Outline& out) {
  hierarchy::outline_reduce_inside(problem, out);
  hierarchy::outline_reduce_up(problem, 0, out);
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::reduce,
    .name = "hierarchical",
    .summary = "in shared memory inside nodes, then up the levels of the machine",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "n, and 2 n for each level",
    .restrictions = {.ordered_nodes = true},
    .segmented = true,
    .hierarchical = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = hierarchy::reduction_scales,
};

}  // namespace quadrille::reduce
