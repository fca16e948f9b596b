// Hierarchical allgather: blocks are gathered to the leader of a node through shared memory, and from leaders up to the
// level below the top. There the leaders run an allgather: Bruck's for short blocks, a ring for long ones. Then all
// blocks are broadcast down the levels, inside a node through shared memory. Every block enters a node once. On one
// node every rank copies the others' blocks directly from shared memory.
//
// Steps: ceil(log2 l) for l leaders at the top, or l - 1. Any number of ranks and levels. No scratch.

#include <algorithm>

#include "algorithms/hierarchy.hpp"
#include "algorithms/hierarchy_outline.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::allgather {

namespace {

void build_on_one_node(Builder& builder, const Problem& problem) {
  const node::Cut cut = node::Cut::of(problem.count, problem.room);
  const node::Gather together(builder, cut);
  builder.for_each_segment(problem.count, cut.piece, problem.window, [&](const Segment& segment) {
    together.to_all(builder, segment, segment.of(problem.input),
                    [&](Rank peer) { return segment.of(problem.output_block(peer)); });
  });
}

// Leader i has the blocks of consecutive domains from its own on, and sends them as many places back.
void exchange(Builder& builder, const Problem& problem, const compose::Level& level, const node::BlockOf& block) {
  const Rank leaders = builder.ranks();
  const auto blocks = [&](Rank first, Rank many) {
    std::vector<Region> all;
    for (Rank i = 0; i < many; ++i) {
      const Rank leader = level.leaders[(first + i) % leaders];
      for (const Region& one : hierarchy::blocks_of(hierarchy::domain_of(problem, level, leader), block)) {
        all.push_back(one);
      }
    }
    return hierarchy::joined(all);
  };
  for (std::int64_t have = 1; have < leaders; have *= 2) {
    const Rank distance = static_cast<Rank>(have);
    const Rank many = std::min(distance, leaders - distance);
    const Rank from = patterns::at_distance(builder.rank(), distance, leaders);
    builder.send(patterns::at_distance(builder.rank(), -distance, leaders), blocks(builder.rank(), many));
    builder.receive(from, blocks(from, many));
  }
}

// By the bytes of a node's blocks.
bool goes_around(const Problem& problem) {
  constexpr std::int64_t least = 8192;
  return problem.count * node::most_ranks(problem) >= least;
}

// The blocks in a few messages.
std::vector<std::vector<Region>> in_messages(const std::vector<Region>& blocks) {
  constexpr std::int64_t shortest = 16384;
  std::int64_t units = 0;
  for (const Region& one : blocks) units += one.length;
  const Rank messages = patterns::messages(units, shortest);
  std::vector<std::vector<Region>> all(static_cast<std::size_t>(messages));
  std::int64_t begin = 0;  // of a block, among all
  for (const Region& block : blocks) {
    for (Rank i = 0; i < messages; ++i) {
      const Range range = patterns::share(units, i, messages);
      const std::int64_t first = std::max(begin, range.begin);
      const std::int64_t end = std::min(begin + block.length, range.end);
      if (first < end) all[static_cast<std::size_t>(i)].push_back(block.part(first - begin, end - first));
    }
    begin += block.length;
  }
  return all;
}

// A ring: every leader forwards what it received in the previous step; every link is always busy.
void pass_around(Builder& builder, const Problem& problem, const compose::Level& level, const node::BlockOf& block) {
  const Rank leaders = builder.ranks();
  const auto blocks = [&](Rank back) {
    const Rank leader = level.leaders[patterns::at_distance(builder.rank(), -back, leaders)];
    return in_messages(hierarchy::blocks_of(hierarchy::domain_of(problem, level, leader), block));
  };
  const Rank next = patterns::at_distance(builder.rank(), 1, leaders);
  const Rank previous = patterns::at_distance(builder.rank(), -1, leaders);
  for (Rank step = 1; step < leaders; ++step) {
    for (const auto& message : blocks(step - 1)) builder.send(next, message);
    for (const auto& message : blocks(step)) builder.receive(previous, message);
  }
}

void build(Builder& builder, const Problem& problem) {
  if (node::ranks_of(problem).size() == problem.ranks && node::shares_memory(problem)) {
    return build_on_one_node(builder, problem);
  }
  Problem one_way = hierarchy::with_half_the_room(problem);
  const hierarchy::GatherInside gather_inside(builder, one_way, problem.count);
  one_way.count = problem.total();
  one_way.segment = 0;
  const hierarchy::BcastInside bcast_inside(builder, one_way);
  const auto levels = compose::levels_of(problem);
  const bool is_long = goes_around(problem);
  const node::BlockOf block = [&](Rank rank) { return problem.output_block(rank); };

  gather_inside(builder, problem.input, block);
  for (std::size_t i = levels.size(); i-- > 0;) {
    const compose::Level& level = levels[i];
    if (level.number > 0) {
      hierarchy::gather_among_leaders(builder, problem, level, block);
    } else {
      compose::on(builder, level.leaders, hierarchy::channel_up(level), problem, [&](Builder&, const Problem&) {
        (is_long ? pass_around : exchange)(builder, problem, level, block);
      });
    }
  }
  for (const compose::Level& level : levels) {
    if (level.number == 0) continue;
    compose::on(builder, level.leaders, hierarchy::channel_down(level),
                hierarchy::among_leaders(problem, level, problem.output), hierarchy::by(Collective::bcast, "binomial"));
  }
  bcast_inside(builder, problem.output);
}

void outline(const Problem& problem, Outline& out) {
  const int levels = hierarchy::levels_above_nodes(problem);
  const double n = rounds::number(problem.count);
  if (levels == 0 && node::shares_memory(problem)) {
    hierarchy::outline_pieces(node::Cut::of(problem.count, problem.room), n, out, [&](double piece) {
      out.copy(piece, Outline::Who::all, 2);
      out.flag();
      out.copy(piece, Outline::Who::all, problem.ranks - 1);
    });
    return;
  }
  Problem one_way = hierarchy::with_half_the_room(problem);
  hierarchy::outline_gather_inside(one_way, problem.count, out);
  hierarchy::outline_gather_up(problem, 1, Outline::Way::in, out);
  out.among_leaders(0, [&](Rank leaders) {
    // Around a ring the largest block holds up the others.
    if (leaders < 2) return;
    const double block = n * problem.topology->largest_domain(1);
    if (goes_around(problem)) return out.shift(1, block, std::max(1, leaders - 1));
    for (std::int64_t distance = 1; distance < leaders; distance *= 2) {
      out.shift(static_cast<Rank>(distance), block * rounds::number(std::min(distance, leaders - distance)));
    }
  });
  for (int level = 1; level < levels; ++level) {
    out.among_leaders(level, [&](Rank leaders) {
      hierarchy::outline_by(Collective::bcast, "binomial", problem, leaders, problem.total(), out);
    });
  }
  one_way.count = problem.total();
  one_way.segment = 0;
  hierarchy::outline_bcast_inside(one_way, rounds::number(problem.total()), out);
}

// In one piece.
bool scales(const Problem& problem) {
  return !goes_around(problem) && problem.total() <= problem.room / 2;
}

}  // namespace

extern const Algorithm hierarchical = {
    .collective = Collective::allgather,
    .name = "hierarchical",
    .summary = "gathered in shared memory inside nodes, exchanged between leaders, distributed in shared memory",
    .paper = "Tanase, Almasi, Archer, Xue: Hybrid collective operations on Power7 IH, 2011",
    .steps = "by levels",
    .cost = "by levels",
    .scratch = "0",
    .restrictions = {},
    .hierarchical = true,
    .gathers = true,
    .channels = hierarchy::channels,
    .build = build,
    .predict = nullptr,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = scales,
};

}  // namespace quadrille::allgather
