// Butterfly reduce-scatter (Träff): across one dimension of a hypercube after another, starting with the smallest
// distance, peers exchange halves of what is left of the vector. Neighbouring blocks of ranks are combined, so rank
// order is preserved, but a corner ends with the block of the corner whose number has its bits reversed, and sends it
// there. Ranks beyond the largest power of two are represented by a neighbour before.
//
// Any number of ranks, any operation. Scratch: 2 p n.

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/reduce_scatter/whole_vector.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::reduce_scatter {

namespace {

Rank mirrored(Rank corner, int dimensions) {
  Rank mirror = 0;
  for (int bit = 0; bit < dimensions; ++bit) mirror |= (corner >> bit & 1) << (dimensions - 1 - bit);
  return mirror;
}

void build(Builder& builder, const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  // Who ends with the block of a corner.
  const auto holder_of = [&](Rank corner) { return cube.rank_of(mirrored(corner, cube.dimensions())); };
  if (const auto representative = cube.represented_by(problem.rank)) {
    builder.send(*representative, problem.input);
    builder.receive(holder_of(cube.corner_of(*representative)), problem.output);
    return;
  }
  const Problem vector = whole_vector(problem);
  Accumulator result(builder, vector);
  combine_represented(builder, vector, cube, result);
  // The shares of all ranks that some corners represent.
  const auto blocks = [&](Rank first, Rank many) {
    return Range{problem.share(cube.first_of(first)).begin, problem.share(cube.first_of(first + many) - 1).end};
  };
  const Rank corner = cube.corner_of(problem.rank);
  Rank first = 0;
  for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
    const Rank half = cube.corners() >> (dimension + 1);
    const bool upper = (corner >> dimension & 1) != 0;
    const Rank peer = cube.neighbour(problem.rank, dimension);
    builder.send(peer, result.value(blocks(first + (upper ? 0 : half), half)));
    first += upper ? half : 0;
    builder.receive(peer, result.incoming(blocks(first, half)));
    result.combine(blocks(first, half), peer);
  }
  const Rank owner = cube.rank_of(first);
  if (const auto represented = cube.represents(owner)) {
    builder.send(*represented, result.value(problem.share(*represented)));
  }
  if (owner == problem.rank) {
    builder.copy(result.value(problem.share(owner)), problem.output);
  } else {
    builder.send(owner, result.value(problem.share(owner)));
    builder.receive(owner, problem.output);
  }
}

Prediction predict(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  Prediction all{.steps = Prediction::unknown_steps,
                 .messages = std::int64_t{cube.corners()} * cube.dimensions() + cube.extra(),
                 .units = problem.total() * (cube.corners() - 1 + cube.extra())};
  for (Rank rank = 0; rank < problem.ranks; ++rank) {
    const Rank corner = cube.corner_of(cube.represented_by(rank).value_or(rank));
    if (cube.rank_of(mirrored(corner, cube.dimensions())) == rank) continue;
    ++all.messages;
    all.units += problem.share(rank).end - problem.share(rank).begin;
  }
  return all;
}

void outline(const Problem& problem, Outline& out) {
  const double all = rounds::number(problem.total());
  rounds::halve(out, problem.ranks, all);
  out.shift(problem.ranks / 2 | 1, all / problem.ranks);
  rounds::represented(out, problem.ranks, all / problem.ranks);
}

}  // namespace

extern constexpr Algorithm butterfly = {
    .collective = Collective::reduce_scatter,
    .name = "butterfly",
    .summary = "halves of the vector are exchanged with farther and farther ranks, and results sent where they belong",
    .paper = "Träff: An improved algorithm for (non-commutative) reduce-scatter with an application, 2005",
    .steps = "at most floor(log2 p) + 1, + 2 unless p is a power of two",
    .cost = "at most (log2 p + 1) a + p n b + (p - 1) n c, for a power of two",
    .scratch = "2 p n",
    .restrictions = {},
    .logarithmic = true,
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = whole_vector_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce_scatter

namespace quadrille::reduce_scatter_block {

extern const Algorithm butterfly = twin(reduce_scatter::butterfly, Collective::reduce_scatter_block);

}  // namespace quadrille::reduce_scatter_block
