// Hierarchical one-sided broadcast: the data moves through windows between the nodes' leaders, and inside each node
// through shared memory, so that one rank of a node is written, and no rank in it waits for a remote one but its
// leader. Long data moves in segments along a chain of leaders, short data down a binomial tree. The root is the leader
// of its node.
//
// Data in a window; any number of ranks. No scratch; without shared memory a binomial tree of messages inside a node.

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"
#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::bcast {

namespace {

// The leaders of all nodes, in an order that every rank knows.
Group leaders_of(const Problem& problem) {
  if (!problem.topology) return Group::strided(problem.root, 1, 1);
  std::vector<Rank> leaders;
  Problem own = problem;
  for (Rank first : problem.topology->first_of_domains(problem.topology->levels() - 1)) {
    own.rank = first;
    leaders.push_back(node::leader_of(own));
  }
  return Group::of(std::move(leaders));
}

// In ranks of the communicator; empty for those that don't lead.
patterns::Tree tree_of(const Problem& problem, bool in_segments) {
  const Group leaders = leaders_of(problem);
  const auto own = leaders.index_of(problem.rank);
  if (!own) return {};
  const auto of = in_segments ? patterns::chain : patterns::binomial_tree;
  patterns::Tree tree = of(*own, leaders.size(), *leaders.index_of(problem.root));
  if (tree.parent) tree.parent = leaders[*tree.parent];
  for (Rank& child : tree.children) child = leaders[child];
  return tree;
}

void build(Builder& builder, const Problem& problem) {
  if (problem.count == 0 || problem.ranks == 1) return;
  Problem cut = problem;
  cut.segment = hierarchy::chain_segment(problem);
  const bool in_segments = cut.segment > 0;
  const hierarchy::BcastInside inside(builder, cut);
  cut.segment = inside.cut().piece;
  one_sided::broadcast(builder, cut, tree_of(problem, in_segments),
                       [&](const Segment& segment, const Region& data) { inside(builder, segment, data); });
}

void outline(const Problem& problem, Outline& out) {
  Problem cut = problem;
  cut.segment = hierarchy::chain_segment(problem);
  const auto nodes = [&](const auto& body) {
    for (int level = 0; level < hierarchy::levels_above_nodes(problem); ++level) out.among_leaders(level, body);
  };
  if (cut.segment > 0) {
    out.pipeline(rounds::segments(cut), [&] {
      const double segment = rounds::segment_units(cut);
      nodes([&](Rank leaders) { out.chain(segment, {.hops = rounds::number(leaders - 1)}); });
      hierarchy::outline_bcast_inside(cut, segment, out);
    });
  } else {
    nodes([&](Rank leaders) {
      hierarchy::outline_by(Collective::bcast, "binomial", problem, leaders, problem.count, out);
    });
    hierarchy::outline_bcast_inside(problem, rounds::number(problem.count), out);
  }
}

}  // namespace

extern const Algorithm one_sided_hierarchical = {
    .collective = Collective::bcast,
    .name = "one_sided_hierarchical",
    .summary = "through windows between the leaders of nodes, through shared memory inside nodes",
    .paper = "",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "0",
    .restrictions = {.exposed = true},
    .segmented = true,
    .hierarchical = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
