// Hierarchical reduce-scatter: the ranks of a node reduce in shared memory to its leader; leaders run a reduce-scatter
// in which each receives the shares of its node's ranks; these are scattered inside the node.
//
// Cost: inside a node of k ranks p n b + p n/k (k - 1) c, between leaders as recursive halving, ring or pairwise, n
// one share. Any number of ranks; levels above nodes are ignored; non-commutative operations only if the ranks of every
// node are consecutive. Scratch: on leaders 3 p n and that of the reduce-scatter between them.

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"

namespace quadrille::reduce_scatter {

namespace {

// Around a ring where the shares of nodes are no shorter than a segment, so that segments decide.
std::string_view name_among_leaders(const Problem& problem) {
  if (!problem.commutative) return "pairwise";
  const bool around = problem.segment > 0 && problem.total() / hierarchy::nodes_of(problem) >= problem.segment;
  return around ? "ring" : "recursive_halving";
}

Problem reduced_inside(const Problem& problem) {
  Problem inside = problem;
  inside.shares = nullptr;
  inside.count = problem.total();
  inside.room = problem.room / 2;
  return inside;
}

std::int64_t units_of(const Problem& problem, Rank rank) {
  const Range share = problem.share(rank);
  return share.end - share.begin;
}

// The total share of each node's ranks.
Shares shares_of_nodes(const Problem& problem, const compose::Level& top) {
  std::vector<std::int64_t> counts;
  for (Rank i = 0; i < top.leaders.size(); ++i) {
    const Group node = node::ranks_of(problem, top.leaders[i]);
    std::int64_t units = 0;
    for (Rank j = 0; j < node.size(); ++j) units += units_of(problem, node[j]);
    counts.push_back(units);
  }
  return Shares(counts);
}

// The blocks ordered by node.
Region by_nodes(Builder& builder, const Problem& problem, const compose::Level& top, const Region& sum) {
  if (hierarchy::in_rank_order(problem)) return sum;
  const Region sorted = builder.scratch(problem.total());
  std::int64_t place = 0;
  for (Rank i = 0; i < top.leaders.size(); ++i) {
    const Group node = node::ranks_of(problem, top.leaders[i]);
    for (Rank j = 0; j < node.size(); ++j) {
      const Range share = problem.share(node[j]);
      builder.copy(sum.part(share), sorted.part(place, share.end - share.begin));
      place += share.end - share.begin;
    }
  }
  return sorted;
}

// Blocks of equal size through shared memory, others by messages.
Problem scattered_inside(const Problem& problem) {
  Problem inside = problem;
  inside.room = problem.shares ? 0 : problem.room / 2;
  return inside;
}

void build(Builder& builder, const Problem& problem) {
  if (problem.ranks == 1) {
    builder.copy(problem.input, problem.output);
    return;
  }
  const hierarchy::ReduceInside reduce_inside(builder, reduced_inside(problem));
  const hierarchy::ScatterInside scatter_inside(builder, scattered_inside(problem), problem.count);
  const compose::Level top = hierarchy::leaders_of_nodes(problem);
  const bool leads = top.leaders.index_of(problem.rank).has_value();
  const Region sum = leads ? builder.scratch(problem.total()) : Region{.buffer = Buffer::output, .length = 0};

  reduce_inside(builder, sum);
  const Group node = node::ranks_of(problem);
  Region ours;
  if (leads) {
    const Shares shares = shares_of_nodes(problem, top);
    Problem among = hierarchy::among_leaders(problem, top, by_nodes(builder, problem, top, sum));
    const Range share = shares.of(*top.leaders.index_of(problem.rank));
    ours = builder.scratch(share.end - share.begin);
    among.shares = &shares;
    among.in_place = false;
    among.output = ours;
    compose::on(builder, top.leaders, hierarchy::channel_up(top), among,
                hierarchy::by(Collective::reduce_scatter, name_among_leaders(problem)));
  }
  std::vector<std::int64_t> counts;
  for (Rank i = 0; i < node.size(); ++i) counts.push_back(units_of(problem, node[i]));
  const Shares inside(counts);
  scatter_inside(
      builder, [&](Rank rank) { return ours.part(inside.of(*node.index_of(rank))); }, problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  if (problem.ranks == 1) return 0;
  const Problem reduced = reduced_inside(problem);
  const std::int64_t total = problem.total();
  const Problem among{.ranks = hierarchy::nodes_of(problem), .count = total, .commutative = problem.commutative};
  // No node's share exceeds the total.
  return 3 * total + hierarchy::reduce_scratch_units(reduced) +
         quadrille::scratch_units(*find_algorithm(Collective::reduce_scatter_block, name_among_leaders(problem)),
                                  among);
}

void outline(const Problem& problem, Outline& out) {
  hierarchy::outline_reduce_inside(reduced_inside(problem), out);
  const std::int64_t share = problem.total() / problem.ranks;
  out.among_nodes([&](Rank nodes) {
    hierarchy::outline_by(Collective::reduce_scatter_block, name_among_leaders(problem), problem, nodes,
                          problem.total() / std::max<Rank>(1, nodes), out);
  });
  hierarchy::outline_scatter_inside(scattered_inside(problem), share, out);
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::reduce_scatter,
    .name = "hierarchical",
    .summary = "reduced in shared memory inside nodes, then between leaders, and scattered inside nodes",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "3 p n, and what leaders take between them",
    .restrictions = {.ordered_nodes = true},
    .segmented = true,
    .hierarchical = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = scratch_units,
    .outline = outline,
};

}  // namespace quadrille::reduce_scatter

namespace quadrille::reduce_scatter_block {

extern const Algorithm hierarchical = twin(reduce_scatter::hierarchical, Collective::reduce_scatter_block);

}  // namespace quadrille::reduce_scatter_block
