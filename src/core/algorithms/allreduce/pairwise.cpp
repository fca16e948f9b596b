// Pairwise allreduce: the data is divided into p shares. Every rank receives its share from all others, reduces it in
// rank order, and sends the result to all others. The messages of each of the two phases are independent.
//
// Any number of ranks, any operation; supports rank order. Scratch: n.

#include "algorithms/algorithm.hpp"
#include "algorithms/fold.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::allreduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  const auto share_of = [&](Rank rank) { return patterns::share(problem.count, rank, problem.ranks); };
  const Region mine = problem.output.part(share_of(problem.rank));
  exchange_and_fold(builder, problem, share_of, mine);
  for (Rank distance = 1; distance < problem.ranks; ++distance) {
    const Rank from = patterns::at_distance(problem.rank, -distance, problem.ranks);
    const Rank to = patterns::at_distance(problem.rank, distance, problem.ranks);
    builder.send(to, mine);
    builder.receive(from, problem.output.part(share_of(from)));
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t steps = 2 * (std::int64_t{problem.ranks} - 1);
  return {.steps = steps, .messages = steps * problem.ranks, .units = steps * problem.count};
}

std::int64_t scratch_units(const Problem& problem) {
  return (problem.count + problem.ranks - 1) / problem.ranks * problem.ranks;
}

void outline(const Problem& problem, Outline& out) {
  const double share = rounds::number(problem.count) / problem.ranks;
  out.all_pairs(share, rounds::in_flight);
  out.reduce(share, Outline::Who::all, problem.ranks - 1);
  out.all_pairs(share, rounds::in_flight);
}

}  // namespace

extern const Algorithm pairwise = {
    .collective = Collective::allreduce,
    .name = "pairwise",
    .summary = "every rank receives one share from all others, reduces it in rank order and sends it to all",
    .paper = "",
    .steps = "2(p - 1)",
    .cost = "2(p - 1) a + 2 (p - 1)/p n b + (p - 1)/p n c",
    .scratch = "n",
    .restrictions = {},
    .fixed_order = true,
    .build = build,
    .predict = predict,
    .scratch_units = scratch_units,
    .outline = outline,
};

}  // namespace quadrille::allreduce
