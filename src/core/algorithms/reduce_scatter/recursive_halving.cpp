// Recursive halving: across one dimension of a hypercube after another, starting with the largest distance, peers send
// the half of the data that belongs to the other's side and combine the half that belongs to their own. Ranks beyond
// the largest power of two are represented by a neighbour, which sends them their share at the end.
//
// Any number of ranks; commutative operations. Scratch: 2 p n.

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/reduce_scatter/whole_vector.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::reduce_scatter {

namespace {

void build(Builder& builder, const Problem& problem) {
  on_hypercube(builder, problem, [&](const patterns::Hypercube& cube, Accumulator& result) {
    const Rank corner = cube.corner_of(problem.rank);
    for (int dimension = cube.dimensions() - 1; dimension >= 0; --dimension) {
      const Rank peer = cube.neighbour(problem.rank, dimension);
      // The side of a corner: the shares of all ranks that its half represents.
      const auto side_of = [&](Rank of) {
        const Rank first = of >> dimension << dimension;
        const Rank end = cube.first_of(first + (Rank{1} << dimension));
        return Range{problem.share(cube.first_of(first)).begin, problem.share(end - 1).end};
      };
      const Range mine = side_of(corner);
      builder.send(peer, result.value(side_of(corner ^ (Rank{1} << dimension))));
      builder.receive(peer, result.incoming(mine));
      result.combine(mine, peer);
    }
  });
}

void outline(const Problem& problem, Outline& out) {
  const double all = rounds::number(problem.total());
  const Rank corners = patterns::Hypercube(problem.ranks).corners();
  rounds::represented(out, problem.ranks, all, all);
  for (Rank bit = corners / 2; bit >= 1; bit /= 2) {
    out.exchange(bit, all / corners * bit);
    out.reduce(all / corners * bit);
  }
  rounds::represented(out, problem.ranks, all / problem.ranks);
}

}  // namespace

extern constexpr Algorithm recursive_halving = {
    .collective = Collective::reduce_scatter,
    .name = "recursive_halving",
    .summary = "halves of the vector are exchanged across the dimensions of a hypercube",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "floor(log2 p), + 2 unless p is a power of two",
    .cost = "log2 p a + (p - 1) n b + (p - 1) n c, for a power of two",
    .scratch = "2 p n",
    .restrictions = {.commutative = true},
    .logarithmic = true,
    .build = build,
    .predict = predict_halving_on_hypercube,
    .scratch_units = whole_vector_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce_scatter

namespace quadrille::reduce_scatter_block {

extern const Algorithm recursive_halving = twin(reduce_scatter::recursive_halving, Collective::reduce_scatter_block);

}  // namespace quadrille::reduce_scatter_block
