#include "algorithms/hierarchy.hpp"

#include <algorithm>

#include "patterns/ring.hpp"

namespace quadrille::hierarchy {

namespace {

// In elements, most of which have 8 bytes.
constexpr std::int64_t short_units = 1024;

compose::Level node_as_level(const Problem& problem) {
  return {.leaders = node::ranks_of(problem), .leader = node::leader_of(problem)};
}

// The nodes inside the domain of `rank` on `level`.
void add_first_ranks(const Topology& topology, int level, Rank rank, std::vector<Rank>& ranks) {
  if (level + 1 == topology.levels()) {
    ranks.push_back(rank);
    return;
  }
  const Group inside = topology.leaders(level, rank, 0);
  for (Rank i = 0; i < inside.size(); ++i) add_first_ranks(topology, level + 1, inside[i], ranks);
}

}  // namespace

Problem uncut(const Problem& problem) {
  Problem whole = problem;
  whole.segment = 0;
  return whole;
}

Problem with_half_the_room(Problem problem) {
  problem.room /= 2;
  return problem;
}

std::string_view reduce_name(const Problem& problem) {
  const std::int64_t longest_in_a_tree = problem.segment > 0 ? problem.segment : short_units;
  if (problem.count <= longest_in_a_tree) return "binomial";
  return problem.commutative && !problem.fixed_order && chain_segment(problem) > 0 ? "pipelined_chain" : "rabenseifner";
}

compose::Part by(Collective collective, std::string_view name) {
  const Algorithm& algorithm = *find_algorithm(collective, name);
  return [&algorithm](Builder& builder, const Problem& problem) {
    Problem own = problem;
    own.width = algorithm.width;
    algorithm.build(builder, own);
  };
}

bool is_short(const Problem& problem) {
  return problem.count <= short_units;
}

bool reduction_scales(const Problem& problem) {
  const bool by_trees = is_short(problem) && (problem.segment <= 0 || problem.count <= shortest_segment(problem));
  // Nodes may differ in size.
  const auto is_alone = [&](Rank ranks) { return node::Reduce::is_alone(problem, problem.count, ranks, false); };
  return by_trees && problem.count <= problem.room / 2 && is_alone(1) && is_alone(node::most_ranks(problem));
}

compose::Part reduce_by(const Problem& problem) {
  return by(Collective::reduce, reduce_name(problem));
}

std::int64_t shortest_segment(const Problem& problem) {
  return std::max<std::int64_t>(1, problem.segment / 4);
}

std::int64_t chain_segment(const Problem& problem) {
  if (problem.segment <= 0) return 0;
  // A chain through l nodes takes l - 2 segments longer than its data: with 4 l segments, at most a quarter. Inside a
  // node the root fills a piece, of any length, while the others empty the previous one. Segments shorter than a
  // quarter of the requested size would cost more than that.
  const Rank nodes = problem.topology ? problem.topology->domains(problem.topology->levels() - 1) : 1;
  const std::int64_t longest = nodes == 1 && node::shares_memory(problem) ? problem.count : problem.segment;
  const std::int64_t segment =
      std::max(shortest_segment(problem), std::min(problem.count / (4 * std::max(nodes, 2)), longest));
  return patterns::segments(problem.count, segment) > nodes ? segment : 0;
}

Problem among_leaders(const Problem& problem, const compose::Level& level, const Region& data) {
  Problem part = problem;
  part.root = level.leader;
  part.topology = nullptr;
  part.room = 0;
  part.in_place = true;
  part.input = part.output = data;
  part.count = data.length;
  return part;
}

Problem reduce_among_leaders(const Problem& problem, const compose::Level& level, const Region& data) {
  Problem part = among_leaders(problem, level, data);
  part.segment = chain_segment(problem);
  if (problem.rank == level.leader) return part;
  part.in_place = false;
  part.output = {.buffer = Buffer::output, .length = 0};
  return part;
}

std::int64_t reduce_scratch_units(const Problem& problem) {
  const auto scratch_for = [&](const Problem& cut) {
    return scratch_units(*find_algorithm(Collective::reduce, reduce_name(cut)), {.ranks = problem.ranks,
                                                                                 .count = problem.count,
                                                                                 .commutative = problem.commutative,
                                                                                 .segment = chain_segment(cut),
                                                                                 .window = problem.window});
  };
  const std::int64_t levels = problem.topology ? problem.topology->levels() - 1 : 0;
  return levels * scratch_for(problem) + scratch_for(uncut(problem));
}

ReduceInside::ReduceInside(Builder& builder, const Problem& problem) : problem_(problem) {
  if (!node::shares_memory(problem)) return;
  cut_ = node::Cut::of(problem.count, problem.room);
  stage_.emplace(builder, problem, cut_);
}

void ReduceInside::operator()(Builder& builder, const Region& result) const {
  const compose::Level node = node_as_level(problem_);
  if (stage_) {
    const Rank leader = *node.leaders.index_of(node.leader);
    builder.within(node.leaders, node_channel, [&] {
      builder.for_each_segment(problem_.count, cut_.piece, problem_.window, [&](const Segment& segment) {
        stage_->to(builder, leader, segment, segment.of(problem_.input), segment.of(result));
      });
    });
    return;
  }
  Problem part = reduce_among_leaders(problem_, node, result);
  part.input = problem_.input;
  part.count = problem_.count;
  part.in_place = problem_.rank == node.leader && problem_.input == result;
  compose::on(builder, node.leaders, node_channel, part, reduce_by(uncut(problem_)));
}

BcastInside::BcastInside(Builder& builder, const Problem& problem, Rank from) : problem_(problem), from_(from) {
  const bool shared = node::shares_memory(problem);
  if (shared) {
    cut_ = node::Cut::of(problem.count, problem.room, problem.segment);
    stage_.emplace(builder, cut_);
  } else {
    cut_ = {.piece = problem.segment, .pieces = patterns::segments(problem.count, problem.segment)};
  }
}

void BcastInside::operator()(Builder& builder, const Segment& segment, const Region& piece) const {
  const compose::Level node{.leaders = node::ranks_of(problem_), .leader = from_};
  if (stage_) {
    const Rank leader = *node.leaders.index_of(node.leader);
    builder.within(node.leaders, node_channel + 1, [&] { (*stage_)(builder, leader, segment, piece); });
  } else {
    compose::on(builder, node.leaders, node_channel + 1, among_leaders(problem_, node, piece),
                by(Collective::bcast, "binomial"));
  }
}

void BcastInside::operator()(Builder& builder, const Region& data) const {
  builder.for_each_segment(problem_.count, cut_.piece, problem_.window,
                           [&](const Segment& segment) { (*this)(builder, segment, segment.of(data)); });
}

GatherInside::GatherInside(Builder& builder, const Problem& problem, std::int64_t units)
    : problem_(problem), units_(units) {
  if (!node::shares_memory(problem)) return;
  cut_ = node::Cut::of(units, problem.room);
  stage_.emplace(builder, cut_);
}

void GatherInside::operator()(Builder& builder, const Region& input, const node::BlockOf& output) const {
  const compose::Level node = node_as_level(problem_);
  const Rank leader = *node.leaders.index_of(node.leader);
  builder.within(node.leaders, node_channel, [&] {
    if (stage_) {
      builder.for_each_segment(units_, cut_.piece, problem_.window, [&](const Segment& segment) {
        stage_->to(builder, leader, segment, segment.of(input),
                   [&](Rank peer) { return segment.of(output(node.leaders[peer])); });
      });
    } else if (builder.rank() == leader) {
      builder.copy(input, output(problem_.rank));
      for (Rank peer = 0; peer < builder.ranks(); ++peer) {
        if (peer != leader) builder.receive(peer, output(node.leaders[peer]));
      }
    } else {
      builder.send(leader, input);
    }
  });
}

ScatterInside::ScatterInside(Builder& builder, const Problem& problem, std::int64_t units)
    : problem_(problem), units_(units) {
  if (problem.room / node::most_ranks(problem) <= node::Cut::least_places) return;
  cut_ = node::Scatter::cut_of(problem, units);
  stage_.emplace(builder, problem, cut_);
}

void ScatterInside::operator()(Builder& builder, const node::BlockOf& input, const Region& output) const {
  const compose::Level node = node_as_level(problem_);
  const Rank leader = *node.leaders.index_of(node.leader);
  builder.within(node.leaders, node_channel + 1, [&] {
    if (stage_) {
      builder.for_each_segment(units_, cut_.piece, problem_.window, [&](const Segment& segment) {
        stage_->from(
            builder, leader, segment, [&](Rank peer) { return segment.of(input(node.leaders[peer])); },
            segment.of(output));
      });
    } else if (builder.rank() == leader) {
      for (Rank peer = 0; peer < builder.ranks(); ++peer) {
        if (peer != leader) builder.send(peer, input(node.leaders[peer]));
      }
      builder.copy(input(problem_.rank), output);
    } else {
      builder.receive(leader, output);
    }
  });
}

compose::Level leaders_of_nodes(const Problem& problem) {
  if (!problem.topology) return {.leaders = Group::strided(problem.root, 1, 1), .leader = problem.root};
  std::vector<Rank> leaders;
  add_first_ranks(*problem.topology, 0, 0, leaders);
  return {.leaders = Group::of(std::move(leaders)), .leader = 0};
}

bool in_rank_order(const Problem& problem) {
  return !problem.topology || problem.topology->in_rank_order();
}

Group domain_of(const Problem& problem, const compose::Level& level, Rank leader) {
  return problem.topology->domain(level.number + 1, leader);
}

std::vector<Region> joined(const std::vector<Region>& blocks) {
  std::vector<Region> fewer;
  for (const Region& next : blocks) {
    if (!fewer.empty() && fewer.back().same_block(next) && fewer.back().offset + fewer.back().length == next.offset) {
      fewer.back().length += next.length;
    } else {
      fewer.push_back(next);
    }
  }
  return fewer;
}

std::vector<Region> blocks_of(const Group& ranks, const node::BlockOf& block) {
  std::vector<Region> blocks;
  for (Rank i = 0; i < ranks.size(); ++i) blocks.push_back(block(ranks[i]));
  return joined(blocks);
}

LeaderBlocks::LeaderBlocks(Builder& builder, const Problem& problem, const Region& at_root)
    : count_(problem.count), ranks_(Group::all(problem.ranks)), all_(at_root) {
  if (problem.rank == problem.root || !problem.topology) return;
  const Topology& topology = *problem.topology;
  for (int level = 1; level < topology.levels(); ++level) {
    if (topology.leader(level, problem.rank, problem.root) != problem.rank) continue;
    ranks_ = topology.domain(level, problem.rank);
    all_ = builder.scratch(ranks_.size() * count_);
    return;
  }
}

Region LeaderBlocks::block(Rank rank) const {
  return all_.part(*ranks_.index_of(rank) * count_, count_);
}

std::int64_t LeaderBlocks::scratch_units(const Problem& problem) {
  const bool one_node = !problem.topology || problem.topology->levels() == 1;
  return one_node ? 0 : problem.topology->largest_domain(1) * problem.count;
}

void gather_among_leaders(Builder& builder, const Problem& problem, const compose::Level& level,
                          const node::BlockOf& block) {
  const auto blocks = [&](Rank leader) { return blocks_of(domain_of(problem, level, leader), block); };
  compose::on(builder, level.leaders, channel_up(level), problem, [&](Builder&, const Problem&) {
    const Rank leader = *level.leaders.index_of(level.leader);
    if (builder.rank() != leader) builder.send(leader, blocks(problem.rank));
    for (Rank peer = 0; builder.rank() == leader && peer < builder.ranks(); ++peer) {
      if (peer != leader) builder.receive(peer, blocks(level.leaders[peer]));
    }
  });
}

}  // namespace quadrille::hierarchy
