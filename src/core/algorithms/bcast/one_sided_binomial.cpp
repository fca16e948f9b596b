// Binomial one-sided broadcast: every rank that has the data puts it into the memory of others, the largest subtree
// first. The parent of a rank is the rank without its lowest bit, counted from the root; in the paper it is the one
// without its highest bit, a tree of the same shape.
//
// Data in a window; any number of ranks. No scratch.

#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  one_sided::broadcast(builder, problem, patterns::binomial_tree(problem.rank, problem.ranks, problem.root));
}

Prediction predict(const Problem& problem) {
  return one_sided::predict_broadcast(problem,
                                      [&](Rank rank) { return patterns::binomial_tree(rank, problem.ranks, 0); });
}

void outline(const Problem& problem, Outline& out) {
  rounds::down(out, problem.ranks, [&](Rank) { return rounds::number(problem.count); });
}

}  // namespace

extern const Algorithm one_sided_binomial = {
    .collective = Collective::bcast,
    .name = "one_sided_binomial",
    .summary = "the number of windows with the data doubles in each step",
    .paper = "Abuelsoud, Paznikov: Improving MPI remote memory access by one-sided broadcast",
    .steps = "m ceil(log2 p)",
    .cost = "ceil(log2 p)(m a + n b)",
    .scratch = "0",
    .restrictions = {.exposed = true},
    .logarithmic = true,
    .segmented = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
