// Hierarchical all-to-all, by node aggregation: the leader of a node gathers the blocks of its ranks in shared memory;
// leaders exchange one message in each direction, with the blocks of all pairs of ranks of the two nodes; then the
// blocks are scattered in shared memory. On one node every rank copies its blocks directly from shared memory.
//
// Steps: l - 1 for l nodes. For short blocks, where the number of messages dominates: with k ranks per node, k^2
// messages become one. Any number of ranks; levels above nodes are ignored. Scratch: on leaders 2 k p n.

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::alltoall {

namespace {

bool fits_one_node(const Problem& problem) {
  return node::ranks_of(problem).size() == problem.ranks && problem.room / problem.ranks > node::Cut::least_places;
}

void build_on_one_node(Builder& builder, const Problem& problem) {
  const node::Cut cut = node::Scatter::cut_of(problem, problem.count);
  const node::Scatter together(builder, problem, cut);
  builder.for_each_segment(problem.count, cut.piece, problem.window, [&](const Segment& segment) {
    together.from_all(
        builder, segment, [&](Rank peer) { return segment.of(problem.input_block(peer)); },
        [&](Rank peer) { return segment.of(problem.output_block(peer)); });
  });
}

// The blocks that the ranks of a node send to all others, or receive from them: a row per rank.
class Rows {
 public:
  Rows(Builder& builder, const Problem& problem, const Group& node, bool leads)
      : count_(problem.count), row_(problem.total()), node_(node) {
    if (leads) all_ = builder.scratch(node.size() * row_);
  }
  Region row(Rank rank) const { return all_.part(*node_.index_of(rank) * row_, row_); }
  Region block(Rank rank, Rank peer) const { return row(rank).part(peer * count_, count_); }

 private:
  std::int64_t count_;
  std::int64_t row_;
  const Group& node_;
  Region all_;
};

void build(Builder& builder, const Problem& problem) {
  if (fits_one_node(problem)) return build_on_one_node(builder, problem);
  Problem one_way = hierarchy::with_half_the_room(problem);
  const hierarchy::GatherInside gather_inside(builder, one_way, problem.total());
  const hierarchy::ScatterInside scatter_inside(builder, one_way, problem.total());
  const Group node = node::ranks_of(problem);
  const compose::Level top = hierarchy::leaders_of_nodes(problem);
  const auto index = top.leaders.index_of(problem.rank);
  const Rows leaving(builder, problem, node, index.has_value());
  const Rows arrived(builder, problem, node, index.has_value());

  gather_inside(builder, problem.input, [&](Rank rank) { return leaving.row(rank); });
  // Ordered by sender, then by receiver.
  const auto between = [&](const Group& from, const Group& to, const auto& block) {
    std::vector<Region> blocks;
    for (Rank i = 0; i < from.size(); ++i) {
      for (Rank j = 0; j < to.size(); ++j) blocks.push_back(block(from[i], to[j]));
    }
    return hierarchy::joined(blocks);
  };
  compose::on(builder, top.leaders, hierarchy::channel_up(top), problem, [&](Builder&, const Problem&) {
    const auto node_of = [&](Rank leader) { return node::ranks_of(problem, top.leaders[leader]); };
    for (Rank i = 0; i < node.size(); ++i) {
      for (Rank j = 0; j < node.size(); ++j) {
        builder.copy(leaving.block(node[i], node[j]), arrived.block(node[j], node[i]));
      }
    }
    for (Rank step = 1; step < builder.ranks(); ++step) {
      const Rank to = patterns::at_distance(builder.rank(), step, builder.ranks());
      const Rank from = patterns::at_distance(builder.rank(), -step, builder.ranks());
      builder.send(to, between(node, node_of(to), [&](Rank i, Rank j) { return leaving.block(i, j); }));
      builder.receive(from, between(node_of(from), node, [&](Rank i, Rank j) { return arrived.block(j, i); }));
    }
  });
  scatter_inside(
      builder, [&](Rank rank) { return arrived.row(rank); }, problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  return fits_one_node(problem) ? 0 : 2 * node::most_ranks(problem) * problem.total();
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  if (fits_one_node(problem)) {
    const double others = problem.ranks - 1;
    hierarchy::outline_pieces(node::Scatter::cut_of(problem, problem.count), n, out, [&](double piece) {
      out.copy(piece, Outline::Who::all, others);
      out.flag();
      out.copy(piece, Outline::Who::all, others + 1);
    });
    return;
  }
  const double seats = rounds::number(problem.ranks) / hierarchy::nodes_of(problem);
  Problem one_way = hierarchy::with_half_the_room(problem);
  hierarchy::outline_gather_inside(one_way, problem.total(), out);
  out.copy(n, Outline::Who::leader, seats * seats);
  out.among_nodes([&](Rank) { out.all_pairs(n * seats * seats, rounds::in_flight); });
  hierarchy::outline_scatter_inside(one_way, problem.total(), out);
}

// In one piece.
bool scales(const Problem& problem) {
  return problem.total() * node::most_ranks(problem) <= problem.room / 2;
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::alltoall,
    .name = "hierarchical",
    .summary = "node leaders gather blocks, exchange one message in each direction, and scatter them",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "2 p n for each rank of a node",
    .restrictions = {},
    .hierarchical = true,
    .gathers = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = scales,
};

}  // namespace quadrille::alltoall
