// Linear exclusive scan: every rank keeps the result received from the rank below, combines it with its own data, and
// sends that on. Reduces in rank order, left to right.
//
// Any number of ranks, any operation; supports rank order. Scratch: n.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::exscan {

namespace {

void build(Builder& builder, const Problem& problem) {
  const bool last = problem.rank + 1 == problem.ranks;
  if (problem.rank == 0) {
    if (!last) builder.send(1, problem.input);
    return;
  }
  if (last) {
    builder.receive(problem.rank - 1, problem.output);
    return;
  }
  const Region other = builder.scratch(problem.count);
  const Region below = problem.in_place ? other : problem.output;
  const Region sum = problem.in_place ? problem.output : other;
  builder.receive(problem.rank - 1, below);
  builder.reduce(below, problem.input, sum);
  builder.send(problem.rank + 1, sum);
  builder.copy(below, problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  return problem.ranks < 3 ? 0 : problem.count;
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  out.chain(n, {.hops = rounds::number(problem.ranks - 1), .reduced = n});
}

}  // namespace

extern const Algorithm linear = {
    .collective = Collective::exscan,
    .name = "linear",
    .summary = "every rank keeps what it receives from below, combines its data and sends that on",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b) + (p - 2) n c",
    .scratch = "n",
    .restrictions = {},
    .fixed_order = true,
    .build = build,
    .predict = predict_linear,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::exscan
