// Recursive doubling allgather: the corners of a hypercube exchange all their blocks across one dimension after
// another. The corners of a subcube represent consecutive ranks, so a message is contiguous. Ranks beyond the largest
// power of two send their block to a neighbour, and receive all others from it.
//
// Any number of ranks. No scratch, but the message to a represented rank is packed.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/hypercube.hpp"

namespace quadrille::allgather {

namespace {

// All blocks but the rank's own, modulo p.
std::vector<Region> blocks_of_others(const Problem& problem, Rank rank) {
  return problem.output_blocks(patterns::at_distance(rank, 1, problem.ranks), problem.ranks - 1);
}

void build(Builder& builder, const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  builder.copy(problem.input, problem.output_block(problem.rank));
  if (const auto representative = cube.represented_by(problem.rank)) {
    builder.send(*representative, problem.input);
    builder.receive(*representative, blocks_of_others(problem, problem.rank));
    return;
  }
  const auto represented = cube.represents(problem.rank);
  if (represented) builder.receive(*represented, problem.output_block(*represented));
  const Rank corner = cube.corner_of(problem.rank);
  for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
    const Rank peer = cube.neighbour(problem.rank, dimension);
    // The blocks of the current subcube.
    const auto held = [&](Rank of) {
      const Rank first = of >> dimension << dimension;
      const Rank begin = cube.first_of(first);
      return problem.output_blocks(begin, cube.first_of(first + (Rank{1} << dimension)) - begin);
    };
    builder.send(peer, held(corner));
    builder.receive(peer, held(corner ^ (Rank{1} << dimension)));
  }
  if (represented) builder.send(*represented, blocks_of_others(problem, *represented));
}

Prediction predict(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  const std::int64_t others = problem.ranks - 1;
  return {.steps = cube.dimensions() + (cube.extra() > 0 ? 2 : 0),
          .messages = std::int64_t{cube.corners()} * cube.dimensions() + 2 * cube.extra(),
          .units = others * problem.ranks * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  const double each = n * problem.ranks / patterns::Hypercube(problem.ranks).corners();
  rounds::represented(out, problem.ranks, n);
  rounds::across(out, problem.ranks, [&](Rank bit) { return each * bit; });
  rounds::represented(out, problem.ranks, n * (problem.ranks - 1));
}

}  // namespace

extern constexpr Algorithm recursive_doubling = {
    .collective = Collective::allgather,
    .name = "recursive_doubling",
    .summary = "all blocks received so far are exchanged across the dimensions of a hypercube",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "floor(log2 p), + 2 unless p is a power of two",
    .cost = "log2 p a + (p - 1) n b, for a power of two",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .gathers = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::allgather

namespace quadrille::allgatherv {

extern const Algorithm recursive_doubling = [] {
  Algorithm algorithm = twin(allgather::recursive_doubling, Collective::allgatherv);
  algorithm.logarithmic = false;  // blocks are not contiguous: a schedule has p regions
  algorithm.offered = false;
  return algorithm;
}();

}  // namespace quadrille::allgatherv
