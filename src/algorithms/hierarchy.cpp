#include "algorithms/hierarchy.hpp"

#include "patterns/ring.hpp"

namespace quadrille::hierarchy {

namespace {

// Elements: most are of 8 bytes.
constexpr std::int64_t short_units = 1024;

compose::Level node_as_level(const Problem& problem) {
  return {.leaders = node::ranks_of(problem), .leader = node::leader_of(problem)};
}

std::string_view reduce_name(const Problem& problem) {
  return is_short(problem) ? "binomial" : "rabenseifner";
}

}  // namespace

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

compose::Part reduce_by(const Problem& problem) {
  return by(Collective::reduce, reduce_name(problem));
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
  if (problem.rank == level.leader) return part;
  part.in_place = false;
  part.output = {.buffer = Buffer::output, .length = 0};
  return part;
}

std::int64_t reduce_scratch_units(const Problem& problem) {
  const std::int64_t levels = problem.topology ? problem.topology->levels() : 1;  // the node itself is one
  return levels * scratch_units(*find_algorithm(Collective::reduce, reduce_name(problem)),
                                {.ranks = problem.ranks, .count = problem.count, .commutative = problem.commutative});
}

ReduceInside::ReduceInside(Builder& builder, const Problem& problem) : problem_(problem) {
  if (!node::shares_memory(problem)) return;
  cut_ = node::Cut::of(problem.count, problem.room);
  stage_.emplace(builder, cut_);
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
  compose::on(builder, node.leaders, node_channel, part, reduce_by(problem_));
}

BcastInside::BcastInside(Builder& builder, const Problem& problem) : problem_(problem) {
  const bool shared = node::shares_memory(problem);
  if (shared) {
    cut_ = node::Cut::of(problem.count, problem.room, problem.segment);
    stage_.emplace(builder, cut_);
  } else {
    cut_ = {problem.segment, patterns::segments(problem.count, problem.segment), 0};
  }
}

void BcastInside::operator()(Builder& builder, const Segment& segment, const Region& piece) const {
  const compose::Level node = node_as_level(problem_);
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

}  // namespace quadrille::hierarchy
