// Broadcast as scatter and recursive doubling: the data is divided into as many shares as a hypercube has corners, a
// binomial tree scatters them, and the corners exchange all their shares across one dimension after another. A rank
// keeps all it receives in the scatter, so every byte arrives once. Ranks beyond the largest power of two receive all
// data from a neighbour.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/children.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/hypercube.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const Rank p = problem.ranks;
  const patterns::Hypercube cube(p);
  // The root is numbered last, where it is a corner for any number of ranks, and corners are counted from it.
  const auto place_of = [&](Rank rank) { return patterns::at_distance(rank, -problem.root - 1, p); };
  const auto rank_at = [&](Rank place) { return patterns::at_distance(place, problem.root + 1, p); };
  const auto rank_of_corner = [&](Rank corner) { return rank_at(cube.rank_of(cube.corners() - 1 - corner)); };
  const auto shares = [&](Rank first, Rank many) {
    return problem.output.part({patterns::share(problem.count, first, cube.corners()).begin,
                                patterns::share(problem.count, first + many - 1, cube.corners()).end});
  };
  const auto below = [&](Rank corner) { return patterns::binomial_subtree(corner, cube.corners(), 0); };

  const Rank place = place_of(problem.rank);
  if (const auto representative = cube.represented_by(place)) {
    builder.receive(rank_at(*representative), problem.output);
    return;
  }
  const Rank corner = cube.corners() - 1 - cube.corner_of(place);
  const patterns::Tree tree = patterns::binomial_tree(corner, cube.corners(), 0);
  if (tree.parent) builder.receive(rank_of_corner(*tree.parent), shares(corner, below(corner)));
  send_in_turn(builder, tree, [&](Rank child) { builder.send(rank_of_corner(child), shares(child, below(child))); });

  for (Rank bit = 1; bit < cube.corners(); bit *= 2) {
    const Rank peer = corner ^ bit;
    const auto held = [&](Rank who) { return shares(who / bit * bit, bit); };
    const auto lacks = [&](Rank who) { return who % (2 * bit) != 0; };
    if (lacks(peer)) builder.send(rank_of_corner(peer), held(corner));
    if (lacks(corner)) builder.receive(rank_of_corner(peer), held(peer));
  }
  if (const auto represented = cube.represents(place)) builder.send(rank_at(*represented), problem.output);
}

Prediction predict(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  return {.steps = 2 * cube.dimensions() + (cube.extra() > 0 ? 1 : 0),
          .messages = std::int64_t{cube.corners()} * cube.dimensions() + cube.extra(),
          .units = (std::int64_t{problem.ranks} - 1) * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const Rank corners = patterns::Hypercube(problem.ranks).corners();
  const double share = rounds::number(problem.count) / corners;
  rounds::down(out, corners, [&](Rank below) { return share * below; });
  rounds::across(out, problem.ranks, [&](Rank bit) { return share * bit; });
  rounds::represented(out, problem.ranks, rounds::number(problem.count));
}

}  // namespace

extern const Algorithm scatter_doubling = {
    .collective = Collective::bcast,
    .name = "scatter_doubling",
    .summary = "shares are scattered by a binomial tree and exchanged across the dimensions of a hypercube",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "2 floor(log2 p), + 1 unless p is a power of two",
    .cost = "2 log2 p a + 2 (p - 1)/p n b, for a power of two",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
