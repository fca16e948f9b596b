// Broadcast as scatter and recursive doubling among all ranks, as MPICH and Open MPI have it: p shares are scattered by
// a binomial tree; in step k blocks of 2^k ranks exchange all shares of theirs with the next block. Where that block is
// not complete, ranks that have found a partner in it pass its shares on to those that have not. A rank receives again
// what it has from the scatter.
//
// Any number of ranks. No scratch.

#include <algorithm>

#include "algorithms/bcast/even_scatter.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/handing_on.hpp"
#include "patterns/hypercube.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const EvenScatter scatter(problem);
  scatter.build(builder);
  const Rank p = problem.ranks;
  const Rank place = scatter.place();
  for (Rank block = 1; block < p; block *= 2) {
    const Rank mine = place / block * block;
    const Rank next = mine ^ block;
    if ((place ^ block) < p) {
      builder.send(scatter.rank_at(place ^ block), scatter.shares(mine, block));
      builder.receive(scatter.rank_at(place ^ block), scatter.shares(next, block));
    }
    if (next < mine || next >= p) continue;
    for (const auto& [peer, sends] : patterns::handing_on(place, block, std::min(block, p - next))) {
      const Region data = scatter.shares(next, block);
      sends ? builder.send(scatter.rank_at(peer), data) : builder.receive(scatter.rank_at(peer), data);
    }
  }
}

Prediction predict(const Problem& problem) {
  const Rank p = problem.ranks;
  EvenShareCount count(problem);
  for (Rank block = 1; block < p; block *= 2) {
    for (Rank first = 0; first + block < p; first += 2 * block) {
      const Rank next = first + block;
      const Rank partners = std::min(block, p - next);
      count.add(partners, first, block);  // to the next block
      count.add(block, next, block);      // from it, and passed on
    }
  }
  return count.all();
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
