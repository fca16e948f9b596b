// Hierarchical barrier: the ranks of a node signal its leader through shared memory, the leaders of nodes signal those
// of racks, and so on. At the top the leaders run a dissemination barrier; then the release propagates down. On one
// node all ranks signal each other. Where there are many on a node, and each has a core, they do so by dissemination,
// and signal the leader by a tree.
//
// Steps: 2 ceil(log2 l) for each level of l leaders below the top, ceil(log2 l) there. Any number of ranks and levels.
// No scratch; without shared memory a tree inside a node.

#include "algorithms/barrier/inside_node.hpp"
#include "algorithms/hierarchy.hpp"

namespace quadrille::barrier {

namespace {

void build(Builder& builder, const Problem& problem) {
  const InsideNode inside(builder, problem);
  const auto levels = compose::levels_of(problem);
  const auto on = [&](const compose::Level& level, std::int32_t channel, void (*part)(Builder&)) {
    builder.within(level.leaders, channel, [&] { part(builder); });
    builder.fence();
  };

  if (inside.can_be_together(problem)) return inside.together(builder);
  inside.arrive(builder);
  for (std::size_t i = levels.size(); i-- > 0;) {
    const compose::Level& level = levels[i];
    if (level.number == 0) {
      compose::on(builder, level.leaders, hierarchy::channel_up(level), problem,
                  hierarchy::by(Collective::barrier, "dissemination"));
    } else {
      on(level, hierarchy::channel_up(level), gather_signals);
    }
  }
  builder.fence();
  for (const compose::Level& level : levels) {
    if (level.number > 0) on(level, hierarchy::channel_down(level), spread_signals);
  }
  inside.depart(builder);
}

void outline(const Problem& problem, Outline& out) {
  const int levels = hierarchy::levels_above_nodes(problem);
  if (node::shares_memory(problem) && levels == 0) return InsideNode::outline_together(problem, out);
  InsideNode::outline_arrive(problem, out);
  for (int level = levels - 1; level > 0; --level) {
    out.among_leaders(level, [&](Rank leaders) { outline_gather(out, leaders); });
  }
  out.among_leaders(0, [&](Rank leaders) {
    for (std::int64_t distance = 1; distance < leaders; distance *= 2) out.shift(static_cast<Rank>(distance), 0);
  });
  for (int level = 1; level < levels; ++level) {
    out.among_leaders(level, [&](Rank leaders) { outline_spread(out, leaders); });
  }
  InsideNode::outline_depart(problem, out);
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::barrier,
    .name = "hierarchical",
    .summary = "through shared memory inside nodes, between leaders across nodes",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "0",
    .restrictions = {},
    .hierarchical = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::barrier
