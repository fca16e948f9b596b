// Broadcast as scatter and ring allgather of all shares, as MPICH has it: p shares are scattered by a binomial tree;
// then all of them circulate around the ring. A rank receives again what it has from the scatter.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/children.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/even_shares.hpp"
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
    return problem.output.part(patterns::even_shares(problem.count, first, many, p));
  };
  const auto below = [&](Rank other) { return patterns::binomial_subtree(other, p, 0); };

  const patterns::Tree tree = patterns::binomial_tree(place, p, 0);
  if (tree.parent) builder.receive(rank_at(*tree.parent), shares(place, below(place)));
  send_in_turn(builder, tree, [&](Rank child) { builder.send(rank_at(child), shares(child, below(child))); });

  const Rank next = rank_at(patterns::at_distance(place, 1, p));
  const Rank previous = rank_at(patterns::at_distance(place, -1, p));
  for (Rank step = 0; step + 1 < p; ++step) {
    builder.send(next, shares(patterns::at_distance(place, -step, p), 1));
    builder.receive(previous, shares(patterns::at_distance(place, -step - 1, p), 1));
  }
}

Prediction predict(const Problem& problem) {
  const Rank p = problem.ranks;
  Prediction all{.steps = Prediction::unknown_steps};
  const auto add = [&](std::int64_t times, Rank first, Rank many) {
    const Range range = patterns::even_shares(problem.count, first, many, p);
    if (range.empty()) return;
    all.messages += times;
    all.units += times * (range.end - range.begin);
  };
  for (Rank rank = 1; rank < p; ++rank) add(1, rank, patterns::binomial_subtree(rank, p, 0));
  for (Rank share = 0; share < p; ++share) add(p - 1, share, 1);
  return all;
}

void outline(const Problem& problem, Outline& out) {
  const double share = rounds::number(problem.count) / problem.ranks;
  rounds::down(out, problem.ranks, [&](Rank below) { return share * below; });
  out.shift(1, share, problem.ranks - 1);
}

}  // namespace

extern const Algorithm scatter_ring_all = {
    .collective = Collective::bcast,
    .name = "scatter_ring_all",
    .summary = "shares are scattered by a binomial tree, and all of them circulate around a ring",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "at most ceil(log2 p) + p - 1",
    .cost = "(ceil(log2 p) + p - 1) a + 2 (p - 1)/p n b",
    .scratch = "0",
    .restrictions = {},
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
