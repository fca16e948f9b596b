// Ring allreduce: the data is divided into p shares. Each share circulates once around the ring, every rank combining
// its contribution, and once more to distribute the result. Every link carries a share in every step: optimal
// bandwidth.
//
// Any number of ranks; commutative operations, since the reduction of each share starts at another rank. Scratch: none;
// in place two shares.

#include "patterns/ring.hpp"

#include <array>

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::allreduce {

namespace {

std::int64_t scratch_units(const Problem& problem) {
  const bool needed = problem.in_place && problem.ranks > 1;
  return needed ? 2 * ((problem.count + problem.ranks - 1) / problem.ranks) : 0;
}

void build(Builder& builder, const Problem& problem) {
  const Rank next = patterns::at_distance(problem.rank, 1, problem.ranks);
  const Rank previous = patterns::at_distance(problem.rank, -1, problem.ranks);
  const auto share = [&](const Region& region, Rank distance) {
    const Range range =
        patterns::share(problem.count, patterns::at_distance(problem.rank, distance, problem.ranks), problem.ranks);
    return region.part(range);
  };
  if (problem.ranks == 1) builder.copy(problem.input, problem.output);

  std::array<Region, 2> arrived;
  if (const std::int64_t units = scratch_units(problem); units > 0) {
    for (Region& half : arrived) half = builder.scratch(units / 2);
  }
  for (Rank step = 0; step + 1 < problem.ranks; ++step) {
    builder.send(next, share(step == 0 ? problem.input : problem.output, -step));
    const Region target = share(problem.output, -step - 1);
    if (problem.in_place) {
      const Region incoming = arrived[static_cast<std::size_t>(step % 2)].part(0, target.length);
      builder.receive(previous, incoming);
      builder.reduce(incoming, target, target);
    } else {
      builder.receive(previous, target);
      builder.reduce(share(problem.input, -step - 1), target, target);
    }
  }
  for (Rank step = 0; step + 1 < problem.ranks; ++step) {
    builder.send(next, share(problem.output, 1 - step));
    builder.receive(previous, share(problem.output, -step));
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t steps = 2 * (std::int64_t{problem.ranks} - 1);
  return {.steps = steps, .messages = steps * problem.ranks, .units = steps * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double share = rounds::number(problem.count) / problem.ranks;
  out.shift(1, share, problem.ranks - 1);
  out.reduce(share, Outline::Who::all, problem.ranks - 1);
  out.shift(1, share, problem.ranks - 1);
}

}  // namespace

extern const Algorithm ring = {
    .collective = Collective::allreduce,
    .name = "ring",
    .summary = "p shares circulate around a ring, reduced in the first round and distributed in the second",
    .paper = "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009",
    .steps = "2(p - 1)",
    .cost = "2(p - 1) a + 2 (p - 1)/p n b + (p - 1)/p n c",
    .scratch = "0; in place 2 ceil(n/p)",
    .restrictions = {.commutative = true},
    .build = build,
    .predict = predict,
    .scratch_units = scratch_units,
    .outline = outline,
};

}  // namespace quadrille::allreduce
