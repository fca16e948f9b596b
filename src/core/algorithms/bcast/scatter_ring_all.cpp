// Broadcast as scatter and ring allgather of all shares, as MPICH has it: p shares are scattered by a binomial tree;
// then all of them circulate around the ring. A rank receives again what it has from the scatter.
//
// Any number of ranks. No scratch.

#include "algorithms/bcast/even_scatter.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const EvenScatter scatter(problem);
  scatter.build(builder);
  const Rank p = problem.ranks;
  const Rank place = scatter.place();
  const Rank next = scatter.rank_at(patterns::at_distance(place, 1, p));
  const Rank previous = scatter.rank_at(patterns::at_distance(place, -1, p));
  for (Rank step = 0; step + 1 < p; ++step) {
    builder.send(next, scatter.shares(patterns::at_distance(place, -step, p), 1));
    builder.receive(previous, scatter.shares(patterns::at_distance(place, -step - 1, p), 1));
  }
}

Prediction predict(const Problem& problem) {
  EvenShareCount count(problem);
  for (Rank share = 0; share < problem.ranks; ++share) count.add(problem.ranks - 1, share, 1);
  return count.all();
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
