// Linear gather: every rank sends its block to the root, which receives it at its final position.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::gather {

namespace {

void build(Builder& builder, const Problem& problem) {
  if (problem.rank != problem.root) {
    builder.send(problem.root, problem.input);
    return;
  }
  builder.copy(problem.input, problem.output_block(problem.rank));
  for (Rank distance = 1; distance < problem.ranks; ++distance) {
    const Rank from = patterns::at_distance(problem.rank, distance, problem.ranks);
    builder.receive(from, problem.output_block(from));
  }
}

void outline(const Problem& problem, Outline& out) {
  out.star(rounds::number(problem.count), Outline::Way::in);
}

}  // namespace

extern constexpr Algorithm linear = {
    .collective = Collective::gather,
    .name = "linear",
    .summary = "every rank sends its block to the root",
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

}  // namespace quadrille::gather

namespace quadrille::gatherv {

extern const Algorithm linear = twin(gather::linear, Collective::gatherv);

}  // namespace quadrille::gatherv
