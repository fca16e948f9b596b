// Ring reduce-scatter: each share circulates once around the ring, every rank combining its contribution, and ends at
// the rank it belongs to.
//
// Any number of ranks; commutative operations, since the reduction of each share starts at another rank. Scratch: 2 n.

#include "patterns/ring.hpp"

#include <array>

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::reduce_scatter {

namespace {

Rank messages_of(const Problem& problem) {
  return patterns::messages(problem.largest_share(), problem.segment);
}

void build(Builder& builder, const Problem& problem) {
  if (problem.ranks == 1) builder.copy(problem.input, problem.output);
  if (problem.ranks == 1) return;
  const Rank next = patterns::at_distance(problem.rank, 1, problem.ranks);
  const Rank previous = patterns::at_distance(problem.rank, -1, problem.ranks);
  const auto share = [&](Rank distance) {
    return problem.input_block(patterns::at_distance(problem.rank, distance, problem.ranks));
  };
  const std::int64_t n = problem.largest_share();
  const std::array<Region, 2> places = {builder.scratch(n), builder.scratch(n)};
  const Rank messages = messages_of(problem);
  const auto part = [&](const Region& data, Rank i) { return data.part(patterns::share(data.length, i, messages)); };

  Region going = share(-1);
  for (Rank step = 1; step < problem.ranks; ++step) {
    const Region mine = share(-step - 1);
    const Region arrived = places[static_cast<std::size_t>(step % 2)].part(0, mine.length);
    for (Rank i = 0; i < messages; ++i) {
      builder.send(next, part(going, i));
      builder.receive(previous, part(arrived, i));
      builder.reduce(part(mine, i), part(arrived, i), part(arrived, i));
    }
    going = arrived;
  }
  builder.copy(going, problem.output);
}

std::int64_t scratch_units(const Problem& problem) {
  return problem.ranks == 1 ? 0 : 2 * problem.largest_share();
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const Rank messages = messages_of(problem);
  return {.steps = messages == 1 ? others : Prediction::unknown_steps,
          .messages = others * problem.ranks * messages,
          .units = others * problem.total()};
}

void outline(const Problem& problem, Outline& out) {
  const double share = rounds::number(problem.total()) / problem.ranks;
  out.shift(1, share, problem.ranks - 1);
  out.reduce(share, Outline::Who::all, problem.ranks - 1);
}

}  // namespace

extern constexpr Algorithm ring = {
    .collective = Collective::reduce_scatter,
    .name = "ring",
    .summary = "shares circulate around a ring to the rank they belong to, every rank combining its own",
    .paper = "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b + n c)",
    .scratch = "2 n",
    .restrictions = {.commutative = true},
    .build = build,
    .predict = predict,
    .scratch_units = scratch_units,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce_scatter

namespace quadrille::reduce_scatter_block {

extern const Algorithm ring = twin(reduce_scatter::ring, Collective::reduce_scatter_block);

}  // namespace quadrille::reduce_scatter_block
