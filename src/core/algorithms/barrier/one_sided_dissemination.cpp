// One-sided dissemination barrier: in round k every rank sets a notice of the one 2^k further on, and waits for that of
// the one 2^k before. All of these peers differ, so that each notice has one writer.
//
// A window; any number of ranks. No scratch.

#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::barrier {

namespace {

void build(Builder& builder, const Problem& problem) {
  if (problem.ranks == 1) return;
  const one_sided::Notices notices(builder, problem, 1);
  builder.in_order([&] {
    for (Rank distance = 1; distance < problem.ranks; distance *= 2) {
      builder.notify(patterns::at_distance(problem.rank, distance, problem.ranks), notices.of_source(problem.rank), 1);
      builder.await(notices.of_source(patterns::at_distance(problem.rank, -distance, problem.ranks)), 1);
    }
  });
}

Prediction predict(const Problem& problem) {
  const std::int64_t rounds = patterns::ceil_log2(problem.ranks);
  return {.steps = rounds, .messages = rounds * problem.ranks, .units = 0};
}

void outline(const Problem& problem, Outline& out) {
  for (std::int64_t distance = 1; distance < problem.ranks; distance *= 2) out.shift(static_cast<Rank>(distance), 0);
}

}  // namespace

extern const Algorithm one_sided_dissemination = {
    .collective = Collective::barrier,
    .name = "one_sided_dissemination",
    .summary = "the number of ranks heard of doubles in each step, by notices of windows",
    .paper = "Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988",
    .steps = "ceil(log2 p)",
    .cost = "ceil(log2 p) a",
    .scratch = "0",
    .restrictions = {.exposed = true},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::barrier
