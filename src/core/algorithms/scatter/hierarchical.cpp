// Hierarchical scatter: the root sends the leader of each domain the blocks of all its ranks in one message, and so on
// down the levels of the machine; the leader of a node copies them into shared memory, from which each rank copies its
// own. Every node receives one message.
//
// Steps: l - 1 for each level of l leaders. Any number of ranks and levels. Scratch: on leaders, n for each rank of
// their domain.

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"

namespace quadrille::scatter {

namespace {

void build(Builder& builder, const Problem& problem) {
  const hierarchy::ScatterInside inside(builder, problem, problem.count);
  const hierarchy::LeaderBlocks collected(builder, problem, problem.input);
  const node::BlockOf block = [&](Rank rank) { return collected.block(rank); };

  for (const compose::Level& level : compose::levels_of(problem)) {
    const auto blocks = [&](Rank leader) {
      return hierarchy::blocks_of(hierarchy::domain_of(problem, level, leader), block);
    };
    compose::on(builder, level.leaders, hierarchy::channel_down(level), problem, [&](Builder&, const Problem&) {
      const Rank leader = *level.leaders.index_of(level.leader);
      if (builder.rank() != leader) builder.receive(leader, blocks(problem.rank));
      for (Rank peer = 0; builder.rank() == leader && peer < builder.ranks(); ++peer) {
        if (peer != leader) builder.send(peer, blocks(level.leaders[peer]));
      }
    });
  }
  inside(builder, block, problem.output);
}

void outline(const Problem& problem, Outline& out) {
  hierarchy::outline_gather_up(problem, 0, Outline::Way::out, out);
  hierarchy::outline_scatter_inside(problem, problem.count, out);
}

// In one piece.
bool scales(const Problem& problem) {
  return problem.count * node::most_ranks(problem) <= problem.room;
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::scatter,
    .name = "hierarchical",
    .summary = "blocks of a node move down the levels of the machine together, and are scattered in shared memory",
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

}  // namespace quadrille::scatter
