// Rabenseifner's reduce: a reduce-scatter by halving the vector while doubling the distance, then a gather in reverse
// to the root. Rank order is preserved. Ranks beyond the largest power of two are represented by a neighbour, before
// and, if the root is one of them, after.
//
// Any number of ranks, any operation. Scratch: 2 n.

#include "algorithms/algorithm.hpp"
#include "algorithms/halving.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::reduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  const auto for_the_root = cube.represented_by(problem.root);
  if (const auto representative = cube.represented_by(problem.rank)) {
    builder.send(*representative, problem.input);
    if (problem.rank == problem.root) builder.receive(*representative, problem.output);
    return;
  }
  Accumulator result(builder, problem);
  combine_represented(builder, problem, cube, result);
  const std::vector<Halves> halves = reduce_by_halving(builder, problem, cube, result);

  const Rank top = cube.corner_of(for_the_root.value_or(problem.root));
  const Rank corner = cube.corner_of(problem.rank);
  for (int dimension = cube.dimensions() - 1; dimension >= 0; --dimension) {
    const Rank peer = cube.neighbour(problem.rank, dimension);
    const auto& [kept, given] = halves[static_cast<std::size_t>(dimension)];
    if (((corner ^ top) >> dimension & 1) != 0) {
      builder.send(peer, result.value(kept));
      return;
    }
    builder.receive(peer, result.value(given));
  }
  if (for_the_root) {
    builder.send(problem.root, result.value({0, problem.count}));
  } else {
    result.deliver({0, problem.count});
  }
}

Prediction predict(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  const bool detour = cube.represented_by(problem.root).has_value();
  const Rank top = cube.corner_of(cube.represented_by(problem.root).value_or(problem.root));
  std::int64_t gathered = 0;
  for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
    const std::int64_t front = in_front_halves(problem.count, dimension);
    gathered += (top >> dimension & 1) == 0 ? problem.count - front : front;
  }
  return {.steps = 2 * cube.dimensions() + (cube.extra() > 0 ? 1 : 0) + (detour ? 1 : 0),
          .messages =
              cube.extra() + std::int64_t{cube.corners()} * cube.dimensions() + cube.corners() - 1 + (detour ? 1 : 0),
          .units = problem.count * (cube.extra() + cube.corners() - 1 + (detour ? 1 : 0)) + gathered};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  const Rank corners = patterns::Hypercube(problem.ranks).corners();
  rounds::halve(out, problem.ranks, n);
  rounds::down(out, corners, [&](Rank distance) { return n / (2 * distance); });
}

}  // namespace

extern const Algorithm rabenseifner = {
    .collective = Collective::reduce,
    .name = "rabenseifner",
    .summary = "reduce-scatter by recursive halving, gather to the root",
    .paper = "Rabenseifner: Optimization of collective reduction operations, 2004",
    .steps = "2 floor(log2 p), + 1 unless p is a power of two, + 1 if the root is represented",
    .cost = "2 log2 p a + 2 (p - 1)/p n b + (p - 1)/p n c, for a power of two",
    .scratch = "2 n",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = Accumulator::scratch_units_without_output,
    .outline = outline,
};

}  // namespace quadrille::reduce
