// Allreduce as a binomial reduce to rank 0 and a binomial broadcast from there. No rank sends more than in recursive
// doubling, and all ranks together send far less.
//
// Any number of ranks, any operation. Scratch: n.

#include "algorithms/accumulator.hpp"
#include "algorithms/catalogue.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::allreduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  find_algorithm(Collective::reduce, "binomial")->build(builder, problem);
  find_algorithm(Collective::bcast, "binomial")->build(builder, problem);
}

Prediction predict(const Problem& problem) {
  const std::int64_t messages = 2 * (std::int64_t{problem.ranks} - 1);
  return {.steps = 2 * patterns::ceil_log2(problem.ranks), .messages = messages, .units = messages * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  rounds::up(
      out, problem.ranks, [&](Rank) { return n; }, n);
  rounds::down(out, problem.ranks, [&](Rank) { return n; });
}

}  // namespace

extern const Algorithm reduce_bcast = {
    .collective = Collective::allreduce,
    .name = "reduce_bcast",
    .summary = "a binomial reduce to rank 0, a binomial broadcast from there",
    .paper = "",
    .steps = "2 ceil(log2 p)",
    .cost = "2 ceil(log2 p)(a + n b) + ceil(log2 p) n c",
    .scratch = "n",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = Accumulator::scratch_units,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::allreduce
