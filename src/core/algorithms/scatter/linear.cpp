// Linear scatter: the root sends every rank its block.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::scatter {

namespace {

void build(Builder& builder, const Problem& problem) {
  if (problem.rank != problem.root) {
    builder.receive(problem.root, problem.output);
    return;
  }
  builder.copy(problem.input_block(problem.rank), problem.output);
  for (Rank distance = 1; distance < problem.ranks; ++distance) {
    const Rank to = patterns::at_distance(problem.rank, distance, problem.ranks);
    builder.send(to, problem.input_block(to));
  }
}

void outline(const Problem& problem, Outline& out) {
  out.star(rounds::number(problem.count), Outline::Way::out);
}

}  // namespace

extern constexpr Algorithm linear = {
    .collective = Collective::scatter,
    .name = "linear",
    .summary = "the root sends every rank its block",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {},
    .build = build,
    .predict = predict_linear,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::scatter

namespace quadrille::scatterv {

extern const Algorithm linear = twin(scatter::linear, Collective::scatterv);

}  // namespace quadrille::scatterv
