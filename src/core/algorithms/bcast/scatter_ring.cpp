// Broadcast as scatter and ring allgather: the data is divided into p shares, which are scattered by a binomial tree;
// then they circulate around the ring. A rank keeps all it receives in the scatter, so every byte arrives once on every
// rank.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/children.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const Rank p = problem.ranks;
  // Shares and ranks are numbered from the root.
  const Rank place = patterns::at_distance(problem.rank, -problem.root, p);
  const auto rank_at = [&](Rank other) { return patterns::at_distance(problem.root, other, p); };
  const auto shares = [&](Rank first, Rank many) {
    return problem.output.part(
        {patterns::share(problem.count, first, p).begin, patterns::share(problem.count, first + many - 1, p).end});
  };
  const auto below = [&](Rank other) { return patterns::binomial_subtree(other, p, 0); };

  const patterns::Tree tree = patterns::binomial_tree(place, p, 0);
  if (tree.parent) builder.receive(rank_at(*tree.parent), shares(place, below(place)));
  send_in_turn(builder, tree, [&](Rank child) { builder.send(rank_at(child), shares(child, below(child))); });

  const auto lacks = [&](Rank other, Rank share) { return share < other || share >= other + below(other); };
  const Rank next = patterns::at_distance(place, 1, p);
  const Rank previous = patterns::at_distance(place, -1, p);
  for (Rank step = 0; step + 1 < p; ++step) {
    const Rank going = patterns::at_distance(place, -step, p);
    const Rank coming = patterns::at_distance(place, -step - 1, p);
    if (lacks(next, going)) builder.send(rank_at(next), shares(going, 1));
    if (lacks(place, coming)) builder.receive(rank_at(previous), shares(coming, 1));
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = patterns::ceil_log2(problem.ranks) + others,
          .messages = others + others * problem.ranks - patterns::binomial_depths(problem.ranks),
          .units = others * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double share = rounds::number(problem.count) / problem.ranks;
  rounds::down(out, problem.ranks, [&](Rank below) { return share * below; });
  out.shift(1, share, problem.ranks - 1);
}

}  // namespace

extern const Algorithm scatter_ring = {
    .collective = Collective::bcast,
    .name = "scatter_ring",
    .summary = "p shares are scattered by a binomial tree and circulate around a ring",
    .paper =
        "Barnett, Gupta, Payne, Shuler, van de Geijn, Watts: Interprocessor collective communication library, 1994",
    .steps = "ceil(log2 p) + p - 1",
    .cost = "(ceil(log2 p) + p - 1) a + 2 (p - 1)/p n b",
    .scratch = "0",
    .restrictions = {},
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
