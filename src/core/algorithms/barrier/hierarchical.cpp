// Hierarchical barrier: the ranks of a node signal its leader through shared memory, the leaders of nodes signal those
// of racks, and so on. At the top the leaders run a dissemination barrier; then the release propagates down. On one
// node all ranks signal each other.
//
// Steps: 2 ceil(log2 l) for each level of l leaders below the top, ceil(log2 l) there. Any number of ranks and levels.
// No scratch; without shared memory a tree inside a node.

#include <optional>

#include "algorithms/hierarchy.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/trees.hpp"

namespace quadrille::barrier {

namespace {

// Signals the arrival of a group to its first rank, and the release from there.
void gather_words(Builder& builder, Rank first) {
  const patterns::Tree tree = patterns::binomial_tree(builder.rank(), builder.ranks(), first);
  for (Rank child : tree.backwards()) builder.receive_signal(child);
  builder.fence();
  if (tree.parent) builder.send_signal(*tree.parent);
}

void spread_word(Builder& builder, Rank first) {
  const patterns::Tree tree = patterns::binomial_tree(builder.rank(), builder.ranks(), first);
  if (tree.parent) builder.receive_signal(*tree.parent);
  builder.fence();
  for (Rank child : tree.children) builder.send_signal(child);
}

void build(Builder& builder, const Problem& problem) {
  const Group node = node::ranks_of(problem);
  const bool shared = node::shares_memory(problem);
  std::optional<node::Barrier> words;
  if (shared) words.emplace(builder);
  const auto levels = compose::levels_of(problem);
  const auto on = [&](const Group& group, std::int32_t channel, const auto& part) {
    builder.within(group, channel, part);
    builder.fence();
  };

  if (shared && node.size() == problem.ranks) return words->together(builder);
  on(node, hierarchy::node_channel, [&] { shared ? words->arrive(builder, 0) : gather_words(builder, 0); });
  for (std::size_t i = levels.size(); i-- > 0;) {
    const compose::Level& level = levels[i];
    if (level.number == 0) {
      compose::on(builder, level.leaders, hierarchy::channel_up(level), problem,
                  hierarchy::by(Collective::barrier, "dissemination"));
    } else {
      on(level.leaders, hierarchy::channel_up(level), [&] { gather_words(builder, 0); });
    }
  }
  builder.fence();
  for (const compose::Level& level : levels) {
    if (level.number > 0) on(level.leaders, hierarchy::channel_down(level), [&] { spread_word(builder, 0); });
  }
  on(node, hierarchy::node_channel, [&] { shared ? words->depart(builder, 0) : spread_word(builder, 0); });
}

void outline(const Problem& problem, Outline& out) {
  const bool shared = node::shares_memory(problem);
  const auto nothing = [](Rank) { return 0; };
  const int levels = hierarchy::levels_above_nodes(problem);
  if (shared && levels == 0) return out.flag();
  const auto inside = [&](bool arriving) {
    if (shared) return out.flag();
    out.inside_nodes(
        [&](Rank ranks) { arriving ? rounds::up(out, ranks, nothing) : rounds::down(out, ranks, nothing); });
  };
  inside(true);
  for (int level = levels - 1; level > 0; --level) {
    out.among_leaders(level, [&](Rank leaders) { rounds::up(out, leaders, nothing); });
  }
  out.among_leaders(0, [&](Rank leaders) {
    for (std::int64_t distance = 1; distance < leaders; distance *= 2) out.shift(static_cast<Rank>(distance), 0);
  });
  for (int level = 1; level < levels; ++level) {
    out.among_leaders(level, [&](Rank leaders) { rounds::down(out, leaders, nothing); });
  }
  inside(false);
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
