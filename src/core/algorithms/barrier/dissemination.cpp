// Dissemination barrier (Hensgen, Finkel, Manber, 1988): in step k every rank signals the rank at distance 2^k and
// waits for a signal from the one at distance -2^k. After ceil(log2 p) steps every rank has heard, directly or not,
// from every other.
//
// Steps: ceil(log2 p). Cost: ceil(log2 p) a. Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "patterns/ring.hpp"

namespace quadrille::barrier {

namespace {

void build(Builder& builder, const Problem& problem) {
  for (int step = 0; step < patterns::ceil_log2(problem.ranks); ++step) {
    const Rank distance = Rank{1} << step;
    builder.send_signal(patterns::at_distance(problem.rank, distance, problem.ranks));
    builder.receive_signal(patterns::at_distance(problem.rank, -distance, problem.ranks));
    builder.fence();
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t steps = patterns::ceil_log2(problem.ranks);
  return {.steps = steps, .messages = steps * problem.ranks, .units = 0};
}

void outline(const Problem& problem, Outline& out) {
  for (std::int64_t distance = 1; distance < problem.ranks; distance *= 2) out.shift(static_cast<Rank>(distance), 0);
}

}  // namespace

extern const Algorithm dissemination = {
    .collective = Collective::barrier,
    .name = "dissemination",
    .summary = "in step k every rank signals the one at distance 2^k",
    .paper = "Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988",
    .steps = "ceil(log2 p)",
    .cost = "ceil(log2 p) a",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::barrier
