// Hierarchical scan: the ranks of a node scan in shared memory; the last rank of each node has the node's total, and
// runs an exscan with those of the other nodes; its result is distributed in shared memory and combined into the
// results of the node's ranks.
//
// Steps: ceil(log2 l) for l nodes. Cost inside a node of k ranks: 3 n b + k n c. Any number of ranks; levels above
// nodes are ignored. If the ranks of a node are not consecutive: recursive doubling. Scratch: n, and that of the exscan
// between nodes.

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::scan {

namespace {

constexpr std::string_view flat = "recursive_doubling";

// The last rank of each node.
Group last_of_nodes(const Problem& problem) {
  if (!problem.topology) return Group::strided(problem.ranks - 1, 1, 1);
  std::vector<Rank> last;
  for (const Rank first : problem.topology->first_of_domains(problem.topology->levels() - 1)) {
    const Group node = node::ranks_of(problem, first);
    last.push_back(node[node.size() - 1]);
  }
  return Group::of(std::move(last));
}

void build(Builder& builder, const Problem& problem) {
  if (!hierarchy::in_rank_order(problem)) return hierarchy::by(Collective::scan, flat)(builder, problem);
  const Group node = node::ranks_of(problem);
  const Rank last = node[node.size() - 1];
  Problem one_way = hierarchy::with_half_the_room(problem);
  node::Cut cut;
  std::optional<node::Scan> inside;
  if (node::shares_memory(one_way)) {
    cut = node::Cut::of(problem.count, one_way.room);
    inside.emplace(builder, cut);
  }
  const hierarchy::BcastInside bcast_inside(builder, one_way, last);

  if (inside) {
    builder.within(node, hierarchy::node_channel, [&] {
      builder.for_each_segment(problem.count, cut.piece, problem.window, [&](const Segment& segment) {
        (*inside)(builder, segment, segment.of(problem.input), segment.of(problem.output));
      });
    });
  } else {
    compose::on(builder, node, hierarchy::node_channel, problem, hierarchy::by(Collective::scan, flat));
  }
  const compose::Level top{.leaders = last_of_nodes(problem)};
  if (top.leaders.size() == 1) return;
  const bool first_node = node[0] == 0;
  const Region before = first_node ? Region{.buffer = Buffer::output, .length = 0} : builder.scratch(problem.count);
  Problem among = problem;
  among.in_place = false;
  among.input = problem.output;
  among.output = before;
  compose::on(builder, top.leaders, hierarchy::channel_up(top), among, hierarchy::by(Collective::exscan, flat));
  if (first_node) return;
  bcast_inside(builder, before);
  builder.reduce(before, problem.output, problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  const auto of = [&](Collective collective) {
    return quadrille::scratch_units(*find_algorithm(collective, flat), problem);
  };
  return hierarchy::in_rank_order(problem) ? problem.count + of(Collective::scan) + of(Collective::exscan)
                                           : of(Collective::scan);
}

void outline(const Problem& problem, Outline& out) {
  if (!hierarchy::in_rank_order(problem)) return find_algorithm(Collective::scan, flat)->outline(problem, out);
  Problem one_way = hierarchy::with_half_the_room(problem);
  const double n = rounds::number(problem.count);
  const Rank seats = node::most_ranks(problem);
  if (node::shares_memory(one_way)) {
    hierarchy::outline_pieces(node::Cut::of(problem.count, one_way.room), n, out, [&](double piece) {
      out.copy(piece);
      out.flag();
      out.reduce(piece, Outline::Who::others, seats - 1);
    });
  } else {
    out.inside_nodes(
        [&](Rank ranks) { hierarchy::outline_by(Collective::scan, flat, problem, ranks, problem.count, out); });
  }
  if (hierarchy::levels_above_nodes(problem) == 0) return;
  out.among_nodes(
      [&](Rank nodes) { hierarchy::outline_by(Collective::exscan, flat, problem, nodes, problem.count, out); });
  hierarchy::outline_bcast_inside(one_way, n, out);
  out.reduce(n);
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::scan,
    .name = "hierarchical",
    .summary = "in shared memory inside nodes, with an exscan between the last ranks of the nodes",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "n, and what an exscan between nodes takes",
    .restrictions = {},
    .hierarchical = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = hierarchy::reduction_scales,
};

}  // namespace quadrille::scan
