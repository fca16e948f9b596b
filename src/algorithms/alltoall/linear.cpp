// Linear all-to-all: every message is independent of every other. Rank r starts with its neighbours, sending to r + 1,
// r + 2, ... and receiving from r - 1, r - 2, ..., so that with a bound on the messages in flight, however small, each
// send still finds its receive.
//
// Steps: p - 1. Cost: (p - 1)(a + n b), n the largest block. Any number of ranks; two buffers. No scratch.

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
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = others, .messages = others * problem.ranks, .units = others * problem.ranks * problem.count};
}

}  // namespace

extern constexpr Algorithm linear = {
    .collective = Collective::alltoall,
    .name = "linear",
    .summary = "all messages at once",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {.not_in_place = true},
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
};

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm linear = twin(alltoall::linear, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm linear = twin(alltoall::linear, Collective::alltoallw);

}  // namespace quadrille::alltoallw
