// Butterfly reduce-scatter with permuted blocks (Träff): as butterfly, but after k steps a corner has the blocks of all
// corners whose numbers end in the same k bits, so that it ends with its own. Open MPI permutes the vector before; here
// a message consists of blocks that lie apart.
//
// Any number of ranks, any operation. Scratch: 2 p n.

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/reduce_scatter/whole_vector.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::reduce_scatter {

namespace {

// The shares that are for the corners whose numbers end in the same so many bits as this one.
std::vector<Range> blocks_like(const Problem& problem, const patterns::Hypercube& cube, Rank corner, int bits) {
  const Rank stride = Rank{1} << bits;
  std::vector<Range> parts;
  for (Rank one = corner % stride; one < cube.corners(); one += stride) {
    parts.push_back({problem.share(cube.first_of(one)).begin, problem.share(cube.first_of(one + 1) - 1).end});
  }
  return parts;
}

void build(Builder& builder, const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  if (const auto representative = cube.represented_by(problem.rank)) {
    builder.send(*representative, problem.input);
    builder.receive(*representative, problem.output);
    return;
  }
  const Problem vector = whole_vector(problem);
  const Range all{0, vector.count};
  Accumulator result(builder, vector);
  combine_represented(builder, vector, cube, result);
  const Rank corner = cube.corner_of(problem.rank);
  for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
    const Rank peer = cube.neighbour(problem.rank, dimension);
    const std::vector<Range> kept = blocks_like(problem, cube, corner, dimension + 1);
    const std::vector<Range> given = blocks_like(problem, cube, cube.corner_of(peer), dimension + 1);
    builder.send(peer, regions(result.value(all), given));
    builder.receive(peer, regions(result.incoming(all), kept));
    result.combine(kept, peer < problem.rank ? Accumulator::Side::lower : Accumulator::Side::higher);
  }
  builder.copy(result.value(problem.share(problem.rank)), problem.output);
  if (const auto represented = cube.represents(problem.rank)) {
    builder.send(*represented, result.value(problem.share(*represented)));
  }
}

Prediction predict(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  std::int64_t handed_out = 0;
  for (Rank corner = 0; corner < cube.extra(); ++corner) {
    const Range share = problem.share(2 * corner);
    handed_out += share.end - share.begin;
  }
  return {.steps = cube.dimensions() + (cube.extra() > 0 ? 2 : 0),
          .messages = std::int64_t{cube.corners()} * cube.dimensions() + 2 * cube.extra(),
          .units = problem.total() * (cube.corners() - 1 + cube.extra()) + handed_out};
}

void outline(const Problem& problem, Outline& out) {
  const double all = rounds::number(problem.total());
  rounds::halve(out, problem.ranks, all);
  rounds::represented(out, problem.ranks, all / problem.ranks);
}

}  // namespace

extern constexpr Algorithm permuted_butterfly = {
    .collective = Collective::reduce_scatter,
    .name = "permuted_butterfly",
    .summary = "blocks that lie apart are exchanged with farther and farther ranks",
    .paper = "Träff: An improved algorithm for (non-commutative) reduce-scatter with an application, 2005",
    .steps = "floor(log2 p), + 2 unless p is a power of two",
    .cost = "log2 p a + (p - 1) n b + (p - 1) n c, for a power of two",
    .scratch = "2 p n",
    .restrictions = {},
    .gathers = true,
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = whole_vector_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce_scatter

namespace quadrille::reduce_scatter_block {

extern const Algorithm permuted_butterfly = twin(reduce_scatter::permuted_butterfly, Collective::reduce_scatter_block);

}  // namespace quadrille::reduce_scatter_block
