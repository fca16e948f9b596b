// Pairwise all-to-all: in step k rank r sends to r + k and receives from r - k, and goes on when both are done. One
// message each way in flight: gentle on switches, and on the memory of the MPI below.
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
    builder.fence();
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = others, .messages = others * problem.ranks, .units = others * problem.ranks * problem.count};
}

}  // namespace

extern constexpr Algorithm pairwise = {
    .collective = Collective::alltoall,
    .name = "pairwise",
    .summary = "one exchange at a time, with the ranks k places on and back in step k",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
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

extern const Algorithm pairwise = twin(alltoall::pairwise, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm pairwise = twin(alltoall::pairwise, Collective::alltoallw);

}  // namespace quadrille::alltoallw
