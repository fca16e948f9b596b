// Rabenseifner's allreduce: a reduce-scatter by halving the vector while doubling the distance, then an allgather the
// same way back. Neighbouring blocks of ranks are combined, lower on the left, so that rank order is kept. Ranks beyond
// the largest power of two are represented by a neighbour.
//
// Steps: 2 floor(log2 p), + 2 unless p is a power of two. Cost, for a power of two:
// 2 log2 p a + 2 (p - 1)/p n b + (p - 1)/p n c. Any number of ranks, any operation. Scratch: n.

#include <vector>

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "patterns/hypercube.hpp"

namespace quadrille::allreduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  const Range all{0, problem.count};
  if (const auto representative = cube.represented_by(problem.rank)) {
    builder.send(*representative, problem.input);
    builder.receive(*representative, problem.output);
    return;
  }
  Accumulator result(builder, problem);
  const auto represented = cube.represents(problem.rank);
  if (represented) {
    builder.receive(*represented, result.incoming(all));
    result.combine(all, Accumulator::Side::lower);
  }

  // Of the range both hold, the lower of the two keeps the front half and gives the back half away.
  std::vector<Range> kept{all};
  std::vector<Range> given{all};
  for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
    const Rank peer = cube.neighbour(problem.rank, dimension);
    const std::int64_t middle = kept.back().begin + (kept.back().end - kept.back().begin) / 2;
    Range front{kept.back().begin, middle};
    Range back{middle, kept.back().end};
    if (peer < problem.rank) std::swap(front, back);
    builder.send(peer, result.value(back));
    builder.receive(peer, result.incoming(front));
    result.combine(front, peer < problem.rank ? Accumulator::Side::lower : Accumulator::Side::higher);
    kept.push_back(front);
    given.push_back(back);
  }
  result.deliver(kept.back());
  for (int dimension = cube.dimensions(); dimension > 0; --dimension) {
    const Rank peer = cube.neighbour(problem.rank, dimension - 1);
    const auto level = static_cast<std::size_t>(dimension);
    builder.send(peer, problem.output.part(kept[level].begin, kept[level].end - kept[level].begin));
    builder.receive(peer, problem.output.part(given[level].begin, given[level].end - given[level].begin));
  }
  if (represented) builder.send(*represented, problem.output);
}

Prediction predict(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  return {.steps = 2 * cube.dimensions() + (cube.extra() > 0 ? 2 : 0),
          .messages = 2 * std::int64_t{cube.corners()} * cube.dimensions() + 2 * cube.extra(),
          .units = 2 * problem.count * (cube.corners() - 1 + cube.extra())};
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
    .predict = predict,
    .scratch_units = Accumulator::scratch_units,
};

}  // namespace quadrille::allreduce
