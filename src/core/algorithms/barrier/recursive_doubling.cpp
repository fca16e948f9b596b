// Recursive doubling barrier: in step k neighbours in dimension k of a hypercube signal each other that they, and all
// they have heard from, have arrived. Ranks beyond the largest power of two are represented by a neighbour, which they
// signal before and which releases them after; in Open MPI the last ranks are, by the first ones.
//
// Steps: floor(log2 p), + 2 unless p is a power of two. Cost: steps a. Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/hypercube.hpp"

namespace quadrille::barrier {

namespace {

using Extra = patterns::Hypercube::Extra;

template <Extra extra>
void build(Builder& builder, const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks, extra);
  if (const auto representative = cube.represented_by(problem.rank)) {
    builder.send_signal(*representative);
    builder.receive_signal(*representative);
    return;
  }
  const auto represented = cube.represents(problem.rank);
  if (represented) builder.receive_signal(*represented);
  builder.fence();
  for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
    const Rank peer = cube.neighbour(problem.rank, dimension);
    builder.send_signal(peer);
    builder.receive_signal(peer);
    builder.fence();
  }
  if (represented) builder.send_signal(*represented);
}

Prediction predict(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  return {.steps = cube.dimensions() + (cube.extra() > 0 ? 2 : 0),
          .messages = std::int64_t{cube.corners()} * cube.dimensions() + 2 * cube.extra(),
          .units = 0};
}

void outline(const Problem& problem, Outline& out) {
  rounds::represented(out, problem.ranks, 0);
  rounds::across(out, problem.ranks, [](Rank) { return 0; });
  rounds::represented(out, problem.ranks, 0);
}

// Those beyond are as far away from their representatives as there are corners.
void outline_last(const Problem& problem, Outline& out) {
  const patterns::Hypercube cube(problem.ranks, Extra::last);
  const auto represented = [&] {
    if (cube.extra() > 0) out.shift(cube.corners(), 0);
  };
  represented();
  rounds::across(out, problem.ranks, [](Rank) { return 0; });
  represented();
}

}  // namespace

extern constexpr Algorithm recursive_doubling = {
    .collective = Collective::barrier,
    .name = "recursive_doubling",
    .summary = "ranks signal each other across the dimensions of a hypercube",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "floor(log2 p), + 2 unless p is a power of two",
    .cost = "steps a",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .build = build<Extra::lower>,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

extern const Algorithm recursive_doubling_last = [] {
  Algorithm algorithm = recursive_doubling;
  algorithm.name = "recursive_doubling_last";
  algorithm.summary = "ranks signal each other across the dimensions of a hypercube, the last ones by way of the first";
  algorithm.offered = false;
  algorithm.build = build<Extra::last>;
  algorithm.outline = outline_last;
  return algorithm;
}();

}  // namespace quadrille::barrier
