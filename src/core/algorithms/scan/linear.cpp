// Linear scan: every rank combines its data with the result of the rank below, and sends it on. Reduces in rank order,
// left to right.
//
// Any number of ranks, any operation; supports rank order. Scratch: n.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::scan {

namespace {

void build(Builder& builder, const Problem& problem) {
  builder.copy(problem.input, problem.output);
  if (problem.rank > 0) {
    const Region below = builder.scratch(problem.count);
    builder.receive(problem.rank - 1, below);
    builder.reduce(below, problem.output, problem.output);
  }
  if (problem.rank + 1 < problem.ranks) builder.send(problem.rank + 1, problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  return problem.ranks == 1 ? 0 : problem.count;
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  out.chain(n, {.hops = rounds::number(problem.ranks - 1), .reduced = n});
}

}  // namespace

extern const Algorithm linear = {
    .collective = Collective::scan,
    .name = "linear",
    .summary = "every rank combines its data with what it receives from below and sends it on",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b + n c)",
    .scratch = "n",
    .restrictions = {},
    .fixed_order = true,
    .build = build,
    .predict = predict_linear,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::scan
