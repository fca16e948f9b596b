// Pairwise reduce-scatter: every rank sends every other rank its share. With a commutative operation shares are
// combined as they arrive; otherwise they are collected and reduced in rank order.
//
// Any number of ranks, any operation; supports rank order. Scratch: 3 n; p n if not commutative.

#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "algorithms/fold.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::reduce_scatter {

namespace {

void build(Builder& builder, const Problem& problem) {
  if (!problem.commutative) {
    exchange_and_fold(
        builder, problem, [&](Rank rank) { return problem.share(rank); }, problem.output);
    return;
  }
  const Region mine = problem.input_block(problem.rank);
  Rotation places(builder, mine.length);
  LeftFold fold(builder);
  fold.add(mine, mine);
  for (Rank distance = 1; distance < problem.ranks; ++distance) {
    const Rank from = patterns::at_distance(problem.rank, -distance, problem.ranks);
    const Rank to = patterns::at_distance(problem.rank, distance, problem.ranks);
    const Region arrived = places.next();
    builder.send(to, problem.input_block(to));
    builder.receive(from, arrived);
    fold.add(arrived, arrived);
  }
  builder.copy(fold.value(), problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  const std::int64_t blocks =
      problem.commutative ? std::min<std::int64_t>(problem.ranks - 1, Rotation::blocks) : problem.ranks;
  return blocks * problem.largest_share();
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = others, .messages = others * problem.ranks, .units = others * problem.total()};
}

void outline(const Problem& problem, Outline& out) {
  const double share = rounds::number(problem.total()) / problem.ranks;
  out.all_pairs(share, problem.commutative ? Rank{Rotation::blocks} : rounds::in_flight);
  out.reduce(share, Outline::Who::all, problem.ranks - 1);
}

}  // namespace

extern constexpr Algorithm pairwise = {
    .collective = Collective::reduce_scatter,
    .name = "pairwise",
    .summary = "every rank receives its share from all others",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b + n c)",
    .scratch = "3 n; p n if not commutative",
    .restrictions = {},
    .fixed_order = true,
    .build = build,
    .predict = predict,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce_scatter

namespace quadrille::reduce_scatter_block {

extern const Algorithm pairwise = twin(reduce_scatter::pairwise, Collective::reduce_scatter_block);

}  // namespace quadrille::reduce_scatter_block
