// Hierarchical gather: the ranks of a node copy their blocks into shared memory, where the node's leader collects them;
// leaders of nodes send the blocks of their ranks in one message to those of racks, and so on up to the root, which is
// the leader of all its domains. Every node sends one message.
//
// Steps: l - 1 for each level of l leaders. Any number of ranks and levels. Scratch: on leaders, n for each rank of
// their domain.

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"

namespace quadrille::gather {

namespace {

void build(Builder& builder, const Problem& problem) {
  const hierarchy::GatherInside inside(builder, problem, problem.count);
  const hierarchy::LeaderBlocks collected(builder, problem, problem.output);
  const node::BlockOf block = [&](Rank rank) { return collected.block(rank); };

  inside(builder, problem.input, block);
  const auto levels = compose::levels_of(problem);
  for (std::size_t i = levels.size(); i-- > 0;) hierarchy::gather_among_leaders(builder, problem, levels[i], block);
}

void outline(const Problem& problem, Outline& out) {
  hierarchy::outline_gather_inside(problem, problem.count, out);
  hierarchy::outline_gather_up(problem, 0, Outline::Way::in, out);
}

// In one piece.
bool scales(const Problem& problem) {
  return problem.count <= problem.room;
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::gather,
    .name = "hierarchical",
    .summary = "blocks of a node are gathered in shared memory and move up the levels of the machine together",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "n for each rank of a domain",
    .restrictions = {},
    .hierarchical = true,
    .gathers = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = hierarchy::LeaderBlocks::scratch_units,
    .outline = outline,
    .scales = scales,
};

}  // namespace quadrille::gather
