// Recursive doubling: in step k every rank exchanges its partial result with its neighbour in dimension k of a
// hypercube, and both combine the two. Ranks beyond the largest power of two are represented by a neighbour, which
// takes one step before and one after. Neighbouring blocks of ranks are combined, the lower as the left operand, so
// rank order is preserved.
//
// Any number of ranks, any operation. Scratch: n.

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/hypercube.hpp"

namespace quadrille::allreduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  const Range all{0, problem.count};
  allreduce_on_hypercube(builder, problem, [&](const patterns::Hypercube& cube, Accumulator& result) {
    for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
      const Rank peer = cube.neighbour(problem.rank, dimension);
      builder.send(peer, result.value(all));
      builder.receive(peer, result.incoming(all));
      result.combine_alike(all, peer);
    }
    result.deliver(all);
  });
}

Prediction predict(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  const std::int64_t messages = std::int64_t{cube.corners()} * cube.dimensions() + 2 * cube.extra();
  return {
      .steps = cube.dimensions() + (cube.extra() > 0 ? 2 : 0), .messages = messages, .units = messages * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  rounds::represented(out, problem.ranks, n, n);
  rounds::across(
      out, problem.ranks, [&](Rank) { return n; }, 1);
  rounds::represented(out, problem.ranks, n);
}

}  // namespace

extern const Algorithm recursive_doubling = {
    .collective = Collective::allreduce,
    .name = "recursive_doubling",
    .summary = "partial results are exchanged across the dimensions of a hypercube",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "floor(log2 p), + 2 unless p is a power of two",
    .cost = "steps (a + n b) + ceil(log2 p) n c",
    .scratch = "n",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = Accumulator::scratch_units,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::allreduce
