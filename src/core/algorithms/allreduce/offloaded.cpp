// Allreduce with the leaders' level left to the MPI: the ranks of a node reduce in shared memory, the leaders of all
// nodes call the MPI's own non-blocking allreduce, which some networks do in hardware (Power7's collective acceleration
// unit, InfiniBand's SHARP), and the result is broadcast in shared memory. The MPI works in scratch: it can't be
// stopped if something fails, and the caller's buffer may be gone by then.
//
// Cost: inside a node of k ranks 2 n b + n/k (k - 1) c, between leaders what the machine file says. Any number of
// ranks; non-commutative operations only if the ranks of every node are consecutive. Scratch: n on leaders,
// and what the MPI takes.

#include <algorithm>

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::allreduce {

namespace {

// Elements, which an int counts.
constexpr std::int64_t most_at_once = std::int64_t{1} << 30;

void build(Builder& builder, const Problem& problem) {
  const hierarchy::ReduceInside reduce_inside(builder, hierarchy::with_half_the_room(problem));
  const hierarchy::BcastInside bcast_inside(builder, hierarchy::with_half_the_room(problem));
  const Group leaders = hierarchy::leaders_of_nodes(problem).leaders;
  const bool offloads = leaders.size() > 1 && leaders.index_of(problem.rank).has_value();
  const Region sum = offloads ? builder.scratch(problem.count) : problem.output;

  reduce_inside(builder, sum);
  for (std::int64_t begin = 0; offloads && begin < problem.count; begin += most_at_once) {
    const std::int64_t units = std::min(most_at_once, problem.count - begin);
    builder.offload_allreduce(leaders, sum.part(begin, units));
  }
  builder.copy(sum, problem.output);
  bcast_inside(builder, problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  if (problem.ranks == 1) return 0;
  const std::int64_t of_leader = hierarchy::nodes_of(problem) > 1 ? problem.count : 0;
  return of_leader + (node::shares_memory(hierarchy::with_half_the_room(problem))
                          ? 0
                          : problem.count + hierarchy::reduce_scratch_units(problem));
}

void outline(const Problem& problem, Outline& out) {
  hierarchy::outline_reduce_inside(hierarchy::with_half_the_room(problem), out);
  if (hierarchy::nodes_of(problem) > 1) {
    out.offload(rounds::number(problem.count));
    out.copy(rounds::number(problem.count), Outline::Who::leader);
  }
  hierarchy::outline_bcast_inside(hierarchy::with_half_the_room(problem), rounds::number(problem.count), out);
}

}  // namespace

extern const Algorithm offloaded = {
    .collective = Collective::allreduce,
    .name = "offloaded",
    .summary = "in shared memory inside nodes; between leaders by the MPI's own allreduce",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by the MPI",
    .cost = "by the MPI",
    .scratch = "n; without shared memory 2 n more, and that of the MPI",
    .restrictions = {.offloads = true, .ordered_nodes = true},
    .hierarchical = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = hierarchy::reduction_scales,
};

}  // namespace quadrille::allreduce
