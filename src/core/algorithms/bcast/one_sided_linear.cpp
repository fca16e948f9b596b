// Linear one-sided broadcast: the root puts the data into the memory of every rank.
//
// Data in a window; any number of ranks. No scratch.

#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  one_sided::broadcast(builder, problem, patterns::linear_tree(problem.rank, problem.ranks, problem.root));
}

Prediction predict(const Problem& problem) {
  return one_sided::predict_broadcast(problem,
                                      [&](Rank rank) { return patterns::linear_tree(rank, problem.ranks, 0); });
}

void outline(const Problem& problem, Outline& out) {
  out.star(rounds::number(problem.count), Outline::Way::out);
}

}  // namespace

extern const Algorithm one_sided_linear = {
    .collective = Collective::bcast,
    .name = "one_sided_linear",
    .summary = "the root puts the data into the window of every rank",
    .paper = "Abuelsoud, Paznikov: Improving MPI remote memory access by one-sided broadcast",
    .steps = "m (p - 1)",
    .cost = "(p - 1)(m a + n b)",
    .scratch = "0",
    .restrictions = {.exposed = true},
    .segmented = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
