// Ring allgather: every rank sends its right neighbour the block received in the previous step, starting with its own.
//
// Any number of ranks. No scratch.

#include "patterns/ring.hpp"

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::allgather {

namespace {

void build(Builder& builder, const Problem& problem) {
  builder.copy(problem.input, problem.output_block(problem.rank));
  const Rank next = patterns::at_distance(problem.rank, 1, problem.ranks);
  const Rank previous = patterns::at_distance(problem.rank, -1, problem.ranks);
  Region going = problem.input;
  for (Rank step = 1; step < problem.ranks; ++step) {
    const Region coming = problem.output_block(patterns::at_distance(problem.rank, -step, problem.ranks));
    builder.send(next, going);
    builder.receive(previous, coming);
    going = coming;
  }
}

void outline(const Problem& problem, Outline& out) {
  out.shift(1, rounds::number(problem.count), problem.ranks - 1);
}

}  // namespace

extern constexpr Algorithm ring = {
    .collective = Collective::allgather,
    .name = "ring",
    .summary = "blocks circulate around a ring",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {},
    .build = build,
    .predict = predict_rotation,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::allgather

namespace quadrille::allgatherv {

extern const Algorithm ring = twin(allgather::ring, Collective::allgatherv);

}  // namespace quadrille::allgatherv
