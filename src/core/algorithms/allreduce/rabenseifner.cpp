// Rabenseifner's allreduce: a reduce-scatter by halving the vector while doubling the distance, then an allgather in
// reverse. Neighbouring blocks of ranks are combined, the lower as the left operand, so rank order is preserved. Ranks
// beyond the largest power of two are represented by a neighbour.
//
// Any number of ranks, any operation. Scratch: n.

#include "algorithms/algorithm.hpp"
#include "algorithms/halving.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::allreduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  allreduce_on_hypercube(builder, problem, [&](const patterns::Hypercube& cube, Accumulator& result) {
    allreduce_by_halving(builder, problem, cube, result);
  });
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  const Rank corners = patterns::Hypercube(problem.ranks).corners();
  rounds::halve(out, problem.ranks, n);
  for (Rank bit = corners / 2; bit >= 1; bit /= 2) out.exchange(bit, n / (2 * bit));
  rounds::represented(out, problem.ranks, n);
}

}  // namespace

extern const Algorithm rabenseifner = {
    .collective = Collective::allreduce,
    .name = "rabenseifner",
    .summary = "reduce-scatter by recursive halving, allgather by recursive doubling",
    .paper = "Rabenseifner: Optimization of collective reduction operations, 2004",
    .steps = "2 floor(log2 p), + 2 unless p is a power of two",
    .cost = "2 log2 p a + 2 (p - 1)/p n b + (p - 1)/p n c, for a power of two",
    .scratch = "n",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict_allreduce_by_halving,
    .scratch_units = Accumulator::scratch_units,
    .outline = outline,
};

}  // namespace quadrille::allreduce
