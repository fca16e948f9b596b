// Pipelined chain allreduce: segments of partial results move from rank 0 to the last rank, each rank combining its
// own, and segments of the result continue from the last rank to all others. Reduces in rank order, left to right.
//
// Any number of ranks, any operation; supports rank order. Scratch: w n/m for w segments in flight.

#include "algorithms/catalogue.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::allreduce {

namespace {

const Algorithm& reduce_part() {
  return *find_algorithm(Collective::reduce, "pipelined_chain");
}
const Algorithm& bcast_part() {
  return *find_algorithm(Collective::bcast, "pipelined_chain");
}

Problem from_rank_0_up(Problem problem) {
  problem.root = problem.ranks - 1;
  problem.commutative = false;
  return problem;
}

void build(Builder& builder, const Problem& problem) {
  const Problem line = from_rank_0_up(problem);
  reduce_part().build(builder, line);
  bcast_part().build(builder, line);
}

Prediction predict(const Problem& problem) {
  const Problem line = from_rank_0_up(problem);
  const Prediction up = reduce_part().predict(line);
  const Prediction down = bcast_part().predict(line);
  const std::int64_t overlap = problem.ranks > 1 ? patterns::overlapping_steps(problem.count, problem.segment) : 0;
  return {.steps = up.steps + down.steps - overlap,
          .messages = up.messages + down.messages,
          .units = up.units + down.units};
}

std::int64_t scratch_units(const Problem& problem) {
  Problem line = from_rank_0_up(problem);
  line.commutative = true;  // every rank has an output, so the operand order needs no extra buffer
  return reduce_part().scratch_units(line);
}

void outline(const Problem& problem, Outline& out) {
  const double segment = rounds::segment_units(problem);
  const double hops = problem.ranks - 1;
  out.pipeline(rounds::segments(problem), [&] {
    out.chain(segment, {.hops = hops, .reduced = segment});
    out.chain(segment, {.hops = hops});
  });
}

}  // namespace

extern const Algorithm pipelined_chain = {
    .collective = Collective::allreduce,
    .name = "pipelined_chain",
    .summary = "segments of partial results move along the chain of ranks, and the result continues to all",
    .paper = "",
    .steps = "2(p - 2 + m)",
    .cost = "2(p - 2 + m)(a + n/m b) + (p - 2 + m) n/m c",
    .scratch = "w n/m",
    .restrictions = {},
    .segmented = true,
    .fixed_order = true,
    .build = build,
    .predict = predict,
    .scratch_units = scratch_units,
    .outline = outline,
};

}  // namespace quadrille::allreduce
