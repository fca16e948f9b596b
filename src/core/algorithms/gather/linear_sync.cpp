// Linear gather with synchronisation, as Open MPI has it: the root signals one rank after another that it may send its
// block, and waits for it before it signals the next. What is left of a block follows in a message of its own; that is
// nothing, unless a first part is cut off.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::gather {

namespace {

void build(Builder& builder, const Problem& problem) {
  builder.in_order([&] {
    if (problem.rank != problem.root) {
      builder.receive_signal(problem.root);
      builder.send(problem.root, problem.input);
      builder.send_signal(problem.root);
      return;
    }
    for (Rank from = 0; from < problem.ranks; ++from) {
      if (from == problem.root) continue;
      builder.send_signal(from);
      builder.receive(from, problem.output_block(from));
    }
  });
  if (problem.rank != problem.root) return;
  builder.copy(problem.input, problem.output_block(problem.root));
  for (Rank from = 0; from < problem.ranks; ++from) {
    if (from != problem.root) builder.receive_signal(from);
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = 3 * others, .messages = 3 * others, .units = others * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double others = rounds::number(problem.ranks - 1);
  out.chain(0, {.hops = others, .distance = problem.ranks / 2 | 1});
  out.chain(rounds::number(problem.count), {.hops = others, .distance = problem.ranks / 2 | 1});
  out.star(0, Outline::Way::in);
}

}  // namespace

extern const Algorithm linear_sync = {
    .collective = Collective::gather,
    .name = "linear_sync",
    .summary = "every rank sends its block when the root signals it, one after another",
    .paper = "",
    .steps = "3(p - 1)",
    .cost = "3(p - 1) a + (p - 1) n b",
    .scratch = "0",
    .restrictions = {},
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::gather
