// Swing: a reduce-scatter by halving and an allgather in reverse, as Rabenseifner's, but with partners 1, -1, 3, -5,
// 11, ... ranks away instead of 1, 2, 4, 8, ...: on a ring or torus messages take fewer hops and share fewer links.
// Ranks beyond the largest power of two are represented by a neighbour.
//
// The paper's variant for short data, which exchanges all of it in each step, is not here: each rank would combine the
// operands in another order, and get other last bits.
//
// Any number of ranks, commutative operations. Scratch: n.

#include "patterns/swing.hpp"

#include <cstdlib>

#include "algorithms/algorithm.hpp"
#include "algorithms/halving.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::allreduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  allreduce_on_hypercube(builder, problem, [&](const patterns::Hypercube& cube, Accumulator& result) {
    const patterns::Swing swing(cube.dimensions());
    const Rank corner = cube.corner_of(problem.rank);
    std::vector<HalvingStep> steps;
    for (int step = 0; step < swing.steps(); ++step) {
      steps.push_back({cube.rank_of(swing.peer(corner, step)), swing.keeps_front(corner, step)});
    }
    allreduce_by_halving(builder, problem, steps, result);
  });
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  const int steps = patterns::Hypercube(problem.ranks).dimensions();
  const auto part = [&](int step) { return n / rounds::number(std::int64_t{2} << step); };
  rounds::represented(out, problem.ranks, n, n);
  for (int step = 0; step < steps; ++step) {
    out.shift(std::abs(patterns::Swing::distance(step)), part(step));
    out.reduce(part(step));
  }
  for (int step = steps - 1; step >= 0; --step) out.shift(std::abs(patterns::Swing::distance(step)), part(step));
  rounds::represented(out, problem.ranks, n);
}

}  // namespace

extern const Algorithm swing = {
    .collective = Collective::allreduce,
    .name = "swing",
    .summary = "as rabenseifner, with partners nearby on a ring of ranks",
    .paper = "De Sensi, Bonato, Saam, Hoefler: Swing: short-cutting rings for higher bandwidth allreduce, 2024",
    .steps = "2 floor(log2 p), + 2 unless p is a power of two",
    .cost = "2 log2 p a + 2 (p - 1)/p n b + (p - 1)/p n c, for a power of two",
    .scratch = "n",
    .restrictions = {.commutative = true},
    .logarithmic = true,
    .offered = false,
    .build = build,
    .predict = predict_allreduce_by_halving,
    .scratch_units = Accumulator::scratch_units,
    .outline = outline,
};

}  // namespace quadrille::allreduce
