// Barrier with the leaders' level left to the MPI: the ranks of a node signal its leader through shared memory, the
// leaders of all nodes call the MPI's own non-blocking barrier, which some networks do in hardware, and then release
// their nodes.
//
// Any number of ranks. No scratch; without shared memory a tree inside a node.

#include "algorithms/barrier/inside_node.hpp"
#include "algorithms/hierarchy.hpp"

namespace quadrille::barrier {

namespace {

void build(Builder& builder, const Problem& problem) {
  const InsideNode inside(builder, problem);
  const Group leaders = hierarchy::leaders_of_nodes(problem).leaders;

  inside.arrive(builder);
  if (leaders.index_of(problem.rank)) builder.offload_barrier(leaders);
  inside.depart(builder);
}

void outline(const Problem& problem, Outline& out) {
  InsideNode::outline_arrive(problem, out);
  if (hierarchy::nodes_of(problem) > 1) out.offload(0);
  InsideNode::outline_depart(problem, out);
}

}  // namespace

extern const Algorithm offloaded = {
    .collective = Collective::barrier,
    .name = "offloaded",
    .summary = "through shared memory inside nodes; between leaders by the MPI's own barrier",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by the MPI",
    .cost = "by the MPI",
    .scratch = "0",
    .restrictions = {.offloads = true},
    .hierarchical = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::barrier
