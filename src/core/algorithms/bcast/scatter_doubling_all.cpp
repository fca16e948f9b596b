// Broadcast as scatter and recursive doubling among all ranks, as MPICH and Open MPI have it: p shares are scattered by
// a binomial tree; in step k blocks of 2^k ranks exchange all shares of theirs with the next block. Where that block is
// not complete, ranks that have found a partner in it pass its shares on to those that have not. A rank receives again
// what it has from the scatter.
//
// Any number of ranks. No scratch.

#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "algorithms/children.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/even_shares.hpp"
#include "patterns/handing_on.hpp"
#include "patterns/hypercube.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const Rank p = problem.ranks;
  // Shares and ranks are numbered from the root.
  const Rank place = patterns::at_distance(problem.rank, -problem.root, p);
  const auto rank_at = [&](Rank other) { return patterns::at_distance(problem.root, other, p); };
  const auto shares_of = [&](Rank first, Rank many) {
    return problem.output.part(patterns::even_shares(problem.count, first, many, p));
  };
  const auto below = [&](Rank other) { return patterns::binomial_subtree(other, p, 0); };

  const patterns::Tree tree = patterns::binomial_tree(place, p, 0);
  if (tree.parent) builder.receive(rank_at(*tree.parent), shares_of(place, below(place)));
  send_in_turn(builder, tree, [&](Rank child) { builder.send(rank_at(child), shares_of(child, below(child))); });

  for (Rank block = 1; block < p; block *= 2) {
    const Rank mine = place / block * block;
    const Rank next = mine ^ block;
    if ((place ^ block) < p) {
      builder.send(rank_at(place ^ block), shares_of(mine, block));
      builder.receive(rank_at(place ^ block), shares_of(next, block));
    }
    if (next < mine || next >= p) continue;
    for (const auto& [peer, sends] : patterns::handing_on(place, block, std::min(block, p - next))) {
      const Region data = shares_of(next, block);
      sends ? builder.send(rank_at(peer), data) : builder.receive(rank_at(peer), data);
    }
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
  for (Rank block = 1; block < p; block *= 2) {
    for (Rank first = 0; first + block < p; first += 2 * block) {
      const Rank next = first + block;
      const Rank partners = std::min(block, p - next);
      add(partners, first, block);  // to the next block
      add(block, next, block);      // from it, and passed on
    }
  }
  return all;
}

void outline(const Problem& problem, Outline& out) {
  const double share = rounds::number(problem.count) / problem.ranks;
  rounds::down(out, problem.ranks, [&](Rank below) { return share * std::min(below, problem.ranks - below); });
  for (Rank block = 1; block < problem.ranks; block *= 2) out.exchange(block, share * block);
  const Rank rest = problem.ranks - patterns::Hypercube(problem.ranks).corners();
  for (Rank distance = patterns::Hypercube(problem.ranks).corners() / 2; rest > 0 && distance >= rest; distance /= 2) {
    out.tree(distance, share * rest);
  }
}

}  // namespace

extern const Algorithm scatter_doubling_all = {
    .collective = Collective::bcast,
    .name = "scatter_doubling_all",
    .summary = "shares are scattered by a binomial tree, and blocks of ranks exchange all of theirs",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "at most 4 ceil(log2 p)",
    .cost = "2 log2 p a + 2 (p - 1)/p n b, for a power of two",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
