// Hierarchical allreduce, IBM's four-level one for any number of levels: the ranks of a node reduce in shared memory,
// leaders reduce up to the level below the top, where they run an allreduce, and the result is broadcast down again. On
// one node every rank copies the result directly from shared memory.
//
// Longer data is reduced in one allreduce of the leaders of all nodes, ordered by rack: it is halved among neighbours
// first, so that little crosses the links between racks, or, where segments are short, goes around a ring.
//
// Even longer data between nodes of equal size uses rails: each rank of a node reduces a share in shared memory and
// runs an allreduce of it with the ranks of the same local rank on other nodes, so that all ranks use the node's link;
// then the shares are exchanged.
//
// Cost: inside a node of k ranks 2 n b + n/k (k - 1) c, between leaders as recursive doubling, rabenseifner or ring, by
// rails as k rings of n/k. Any number of ranks and levels; non-commutative operations only if the ranks of every node
// are consecutive. Scratch: n, and on leaders 2 n for each level.

#include <algorithm>

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::allreduce {

namespace {

void build_on_one_node(Builder& builder, const Problem& problem) {
  const node::Cut cut = node::Cut::of(problem.count, problem.room);
  const node::Reduce together(builder, problem, cut);
  builder.for_each_segment(problem.count, cut.piece, problem.window, [&](const Segment& segment) {
    together.to_all(builder, segment, segment.of(problem.input), segment.of(problem.output));
  });
}

std::vector<compose::Level> levels_between(const Problem& problem) {
  if (hierarchy::is_short(problem)) return compose::levels_of(problem);
  const compose::Level all = hierarchy::leaders_of_nodes(problem);
  if (!all.leaders.index_of(problem.rank)) return {};
  return {all};
}

// Around a ring of leaders where their shares are no shorter than a segment, so that segments decide.
std::string_view name_at_the_top(const Problem& problem) {
  if (hierarchy::is_short(problem)) return "recursive_doubling";
  const bool around =
      problem.commutative && problem.segment > 0 && problem.count / hierarchy::nodes_of(problem) >= problem.segment;
  return around ? "ring" : "rabenseifner";
}

void through_leaders(Builder& builder, const Problem& problem) {
  const Problem one_way = hierarchy::with_half_the_room(problem);
  const hierarchy::ReduceInside reduce_inside(builder, one_way);
  const hierarchy::BcastInside bcast_inside(builder, one_way);
  const auto levels = levels_between(problem);
  const auto at_the_top = hierarchy::by(Collective::allreduce, name_at_the_top(problem));
  const auto back = hierarchy::by(Collective::bcast, "binomial");

  reduce_inside(builder, problem.output);
  for (std::size_t i = levels.size(); i-- > 0;) {
    const compose::Level& level = levels[i];
    if (level.number > 0) {
      compose::on(builder, level.leaders, hierarchy::channel_up(level),
                  hierarchy::reduce_among_leaders(problem, level, problem.output), hierarchy::reduce_by(problem));
    } else {
      compose::on(builder, level.leaders, hierarchy::channel_up(level),
                  hierarchy::among_leaders(problem, level, problem.output), at_the_top);
    }
  }
  for (const compose::Level& level : levels) {
    if (level.number == 0) continue;
    compose::on(builder, level.leaders, hierarchy::channel_down(level),
                hierarchy::among_leaders(problem, level, problem.output), back);
  }
  bcast_inside(builder, problem.output);
}

constexpr std::int32_t rails_channel = hierarchy::channels;

bool goes_by_rails(const Problem& problem) {
  if (!problem.topology) return false;
  const Rank seats = node::most_ranks(problem);
  const bool even = problem.ranks % seats == 0 && hierarchy::nodes_of(problem) == problem.ranks / seats;
  const bool fits = problem.room / (3 * seats) > node::Cut::least_places;
  // Many rings with short messages would be slower than few with long ones.
  const bool is_long = problem.segment > 0 && problem.count / problem.ranks >= hierarchy::shortest_segment(problem);
  return even && seats > 1 && fits && is_long;
}

// The ranks with the same local rank on their nodes.
Group rail_of(const Problem& problem) {
  const Rank seat = *node::ranks_of(problem).index_of(problem.rank);
  const Group leaders = hierarchy::leaders_of_nodes(problem).leaders;
  std::vector<Rank> ranks;
  for (Rank i = 0; i < leaders.size(); ++i) ranks.push_back(node::ranks_of(problem, leaders[i])[seat]);
  return Group::of(std::move(ranks));
}

// The problem of a rail, whose ranks have one share of the data.
Problem on_rail(const Problem& problem, const Group& rail, const Region& share) {
  return hierarchy::among_leaders(problem, {.leaders = rail, .leader = rail[0]}, share);
}

std::string_view rail_name(const Problem& problem) {
  return problem.commutative ? "segmented_ring" : "rabenseifner";
}

// For data that is divisible by the number of ranks per node.
void by_rails(Builder& builder, const Problem& problem) {
  const Group node = node::ranks_of(problem);
  const std::int64_t units = problem.count / node.size();
  const auto share = [&](const Region& data, Rank seat) { return data.part(seat * units, units); };
  const node::Cut cut_to_reduce = node::Scatter::cut_of(problem, units);
  const node::Scatter reduce(builder, problem, cut_to_reduce);
  const node::Cut cut_to_collect = node::Cut::of(units, problem.room);
  const node::Gather collect(builder, cut_to_collect);
  const Region own = share(problem.output, *node.index_of(problem.rank));
  const Group rail = rail_of(problem);

  builder.within(node, hierarchy::node_channel, [&] {
    builder.for_each_segment(units, cut_to_reduce.piece, problem.window, [&](const Segment& segment) {
      reduce.reduced(
          builder, segment, [&](Rank seat) { return segment.of(share(problem.input, seat)); }, segment.of(own));
    });
  });
  compose::on(builder, rail, rails_channel, on_rail(problem, rail, own),
              hierarchy::by(Collective::allreduce, rail_name(problem)));
  builder.within(node, hierarchy::node_channel, [&] {
    builder.for_each_segment(units, cut_to_collect.piece, problem.window, [&](const Segment& segment) {
      collect.to_all(builder, segment, segment.of(own),
                     [&](Rank seat) { return segment.of(share(problem.output, seat)); });
    });
  });
}

// The problem on part of the data, with part of the shared memory.
Problem part_of(const Problem& problem, Range range, std::int64_t room) {
  Problem part = problem;
  part.count = range.end - range.begin;
  part.input = problem.input.part(range);
  part.output = problem.output.part(range);
  part.room = room;
  return part;
}

void build(Builder& builder, const Problem& problem) {
  const Group node = node::ranks_of(problem);
  if (node.size() == problem.ranks && node::shares_memory(problem)) return build_on_one_node(builder, problem);
  if (!goes_by_rails(problem)) return through_leaders(builder, problem);
  // The remainder is less than one unit per rank.
  const std::int64_t rest = problem.count % node.size();
  const std::int64_t room_for_rest = 2 * std::max<std::int64_t>(node.size(), node::Cut::least_places + 1);
  by_rails(builder, part_of(problem, {0, problem.count - rest}, (problem.room - room_for_rest) / 2));
  if (rest > 0) through_leaders(builder, part_of(problem, {problem.count - rest, problem.count}, room_for_rest));
}

std::int64_t scratch_of_leaders(const Problem& problem) {
  return problem.count + hierarchy::reduce_scratch_units(problem);
}

std::int64_t scratch_units(const Problem& problem) {
  if (problem.ranks == 1) return 0;
  if (!goes_by_rails(problem)) return scratch_of_leaders(problem);
  const Rank seats = node::most_ranks(problem);
  const Group rail = rail_of(problem);
  Problem part = on_rail(problem, rail, {.buffer = Buffer::output, .length = problem.count / seats});
  part.ranks = rail.size();
  Problem rest = problem;
  rest.count = problem.count % seats;
  return quadrille::scratch_units(*find_algorithm(Collective::allreduce, rail_name(problem)), part) +
         scratch_of_leaders(rest);
}

void outline(const Problem& problem, Outline& out) {
  const int levels = hierarchy::levels_above_nodes(problem);
  if (levels == 0 && node::shares_memory(problem)) return hierarchy::outline_reduce_to_all(problem, out);
  if (goes_by_rails(problem)) {
    const Rank seats = node::most_ranks(problem);
    const double share = rounds::number(problem.count) / seats;
    const Problem half = hierarchy::with_half_the_room(problem);
    hierarchy::outline_pieces(node::Scatter::cut_of(half, problem.count / seats), share, out, [&](double piece) {
      out.copy(piece, Outline::Who::all, seats - 1);
      out.flag();
      out.reduce(piece, Outline::Who::all, seats - 1);
    });
    out.among_rails([&](Rank nodes) {
      hierarchy::outline_by(Collective::allreduce, rail_name(problem), problem, nodes, problem.count / seats, out);
    });
    hierarchy::outline_pieces(node::Cut::of(problem.count / seats, half.room), share, out, [&](double piece) {
      out.copy(piece, Outline::Who::all, 2);
      out.flag();
      out.copy(piece, Outline::Who::all, seats - 1);
    });
    return;
  }
  const Problem one_way = hierarchy::with_half_the_room(problem);
  hierarchy::outline_reduce_inside(one_way, out);
  if (!hierarchy::is_short(problem)) {
    out.among_nodes([&](Rank nodes) {
      hierarchy::outline_by(Collective::allreduce, name_at_the_top(problem), problem, nodes, problem.count, out);
    });
  } else {
    hierarchy::outline_reduce_up(problem, 1, out);
    out.among_leaders(0, [&](Rank leaders) {
      hierarchy::outline_by(Collective::allreduce, "recursive_doubling", problem, leaders, problem.count, out);
    });
    for (int level = 1; level < levels; ++level) {
      out.among_leaders(level, [&](Rank leaders) {
        hierarchy::outline_by(Collective::bcast, "binomial", problem, leaders, problem.count, out);
      });
    }
  }
  hierarchy::outline_bcast_inside(one_way, rounds::number(problem.count), out);
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::allreduce,
    .name = "hierarchical",
    .summary = "reduced in shared memory inside nodes, then between leaders; the result is distributed the same way",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "n, and 2 n for each level",
    .restrictions = {.ordered_nodes = true},
    .segmented = true,
    .hierarchical = true,
    .channels = hierarchy::channels + 1,
    .build = build,
    .predict = nullptr,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = hierarchy::reduction_scales,
};

}  // namespace quadrille::allreduce
