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
  on_hypercube(builder, problem, [&](const patterns::Hypercube& cube, Accumulator& result) {
    const Range all{0, problem.total()};
    const Rank corner = cube.corner_of(problem.rank);
    for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
      const Rank peer = cube.neighbour(problem.rank, dimension);
      const std::vector<Range> kept = blocks_like(problem, cube, corner, dimension + 1);
      const std::vector<Range> given = blocks_like(problem, cube, cube.corner_of(peer), dimension + 1);
      builder.send(peer, regions(result.value(all), given));
      builder.receive(peer, regions(result.incoming(all), kept));
      result.combine(kept, peer < problem.rank ? Accumulator::Side::lower : Accumulator::Side::higher);
    }
  });
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
    .predict = predict_halving_on_hypercube,
    .scratch_units = whole_vector_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce_scatter

namespace quadrille::reduce_scatter_block {

extern const Algorithm permuted_butterfly = twin(reduce_scatter::permuted_butterfly, Collective::reduce_scatter_block);

}  // namespace quadrille::reduce_scatter_block
