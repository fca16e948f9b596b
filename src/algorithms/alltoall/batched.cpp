// Batched all-to-all: as linear, but a batch of k messages each way at a time, and the next when all of it is done. The
// bound on what a rank has in flight is the algorithm's own.
//
// Steps: p - 1. Cost: (p - 1)(a + n b), n the largest block. Any number of ranks; two buffers; k is the number behind
// the name, as in batched:8, 16 without one. No scratch.

#include "algorithms/algorithm.hpp"
#include "patterns/ring.hpp"

namespace quadrille::alltoall {

namespace {

void build(Builder& builder, const Problem& problem) {
  builder.copy(problem.input_block(problem.rank), problem.output_block(problem.rank));
  for (Rank distance = 1; distance < problem.ranks; ++distance) {
    const Rank from = patterns::at_distance(problem.rank, -distance, problem.ranks);
    const Rank to = patterns::at_distance(problem.rank, distance, problem.ranks);
    builder.receive(from, problem.output_block(from));
    builder.send(to, problem.input_block(to));
    if (distance % problem.width == 0) builder.fence();
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = others, .messages = others * problem.ranks, .units = others * problem.ranks * problem.count};
}

}  // namespace

extern constexpr Algorithm batched = {
    .collective = Collective::alltoall,
    .name = "batched",
    .summary = "k messages each way at a time",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {.not_in_place = true},
    .width = 16,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
};

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm batched = twin(alltoall::batched, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm batched = twin(alltoall::batched, Collective::alltoallw);

}  // namespace quadrille::alltoallw
