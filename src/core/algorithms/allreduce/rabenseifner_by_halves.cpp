// Rabenseifner's allreduce with his way to a power of two, which Open MPI has: a rank beyond it and its neighbour
// combine half of the vector each before the neighbour gets the other half, so that both work.
//
// Any number of ranks, any operation. Scratch: n.

#include "algorithms/algorithm.hpp"
#include "algorithms/halving.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::allreduce {

namespace {

using patterns::Hypercube;

// Of a pair both combine their half.
Halves combine_own_half(Builder& builder, const Problem& problem, Rank peer, Accumulator& result) {
  const Halves halves = halves_of({0, problem.count}, problem.rank < peer);
  builder.send(peer, result.value(halves.given));
  builder.receive(peer, result.incoming(halves.kept));
  result.combine(halves.kept, peer);
  return halves;
}

void build(Builder& builder, const Problem& problem) {
  const Hypercube cube(problem.ranks, Hypercube::Extra::higher);
  Accumulator result(builder, problem);
  if (const auto representative = cube.represented_by(problem.rank)) {
    const Halves halves = combine_own_half(builder, problem, *representative, result);
    builder.send(*representative, result.value(halves.kept));
    builder.receive(*representative, problem.output);
    return;
  }
  const auto represented = cube.represents(problem.rank);
  if (represented) {
    const Halves halves = combine_own_half(builder, problem, *represented, result);
    builder.receive(*represented, result.value(halves.given));
  }
  allreduce_by_halving(builder, problem, cube, result);
  if (represented) builder.send(*represented, problem.output);
}

Prediction predict(const Problem& problem) {
  const Hypercube cube(problem.ranks);
  const std::int64_t back = problem.count - problem.count / 2;
  return {.steps = 2 * cube.dimensions() + (cube.extra() > 0 ? 3 : 0),
          .messages = 2 * std::int64_t{cube.corners()} * cube.dimensions() + 4 * cube.extra(),
          .units = 2 * problem.count * (cube.corners() - 1 + cube.extra()) + back * cube.extra()};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  const Rank corners = Hypercube(problem.ranks).corners();
  rounds::represented(out, problem.ranks, n / 2, n / 2);
  rounds::represented(out, problem.ranks, n / 2);
  rounds::halve(out, corners, n);
  for (Rank bit = corners / 2; bit >= 1; bit /= 2) out.exchange(bit, n / (2 * bit));
  rounds::represented(out, problem.ranks, n);
}

}  // namespace

extern const Algorithm rabenseifner_by_halves = {
    .collective = Collective::allreduce,
    .name = "rabenseifner_by_halves",
    .summary = "as rabenseifner; ranks beyond a power of two combine half of what they and their neighbours have",
    .paper = "Rabenseifner: Optimization of collective reduction operations, 2004",
    .steps = "2 floor(log2 p), + 3 unless p is a power of two",
    .cost = "2 log2 p a + 2 (p - 1)/p n b + (p - 1)/p n c, for a power of two",
    .scratch = "n",
    .restrictions = {},
    .logarithmic = true,
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = Accumulator::scratch_units,
    .outline = outline,
};

}  // namespace quadrille::allreduce
