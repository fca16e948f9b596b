// Linear reduce: the root receives the data of all ranks and reduces it in rank order. Bitwise equal to the sequential
// definition.
//
// Any number of ranks, any operation; supports rank order. Scratch: 3 n at the root.

#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "algorithms/fold.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::reduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  if (problem.rank != problem.root) {
    builder.send(problem.root, problem.input);
    return;
  }
  Rotation places(builder, problem.count);
  LeftFold fold(builder);
  for (Rank rank = 0; rank < problem.ranks; ++rank) {
    const bool last = rank + 1 == problem.ranks;
    if (rank == problem.root) {
      const bool straight_to_output = last || problem.in_place;
      fold.add(problem.input, straight_to_output || rank == 0 ? problem.output : places.next());
    } else {
      const bool output_is_free = rank > 0 && fold.value() != problem.output;
      const Region place = last && output_is_free ? problem.output : places.next();
      builder.receive(rank, place);
      fold.add(place, place);
    }
  }
  builder.copy(fold.value(), problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  return std::min<std::int64_t>(problem.ranks - 1, Rotation::blocks) * problem.count;
}

void outline(const Problem& problem, Outline& out) {
  out.star(rounds::number(problem.count), Outline::Way::in, rounds::number(problem.count));
}

}  // namespace

extern const Algorithm linear = {
    .collective = Collective::reduce,
    .name = "linear",
    .summary = "the root receives the data of all ranks and reduces it in rank order",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b + n c)",
    .scratch = "3 n",
    .restrictions = {},
    .fixed_order = true,
    .build = build,
    .predict = predict_linear,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce
