#include "algorithms/halving.hpp"

namespace quadrille {

Halves halves_of(Range range, bool lower) {
  const std::int64_t middle = range.begin + (range.end - range.begin) / 2;
  const Range front{range.begin, middle};
  const Range back{middle, range.end};
  return lower ? Halves{front, back} : Halves{back, front};
}

namespace {

std::vector<HalvingStep> steps_on(const patterns::Hypercube& cube, Rank rank) {
  std::vector<HalvingStep> steps;
  for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
    const Rank peer = cube.neighbour(rank, dimension);
    steps.push_back({peer, rank < peer});
  }
  return steps;
}

}  // namespace

std::vector<Halves> reduce_by_halving(Builder& builder, const Problem& problem, const patterns::Hypercube& cube,
                                      Accumulator& result) {
  return reduce_by_halving(builder, problem, steps_on(cube, problem.rank), result);
}

std::vector<Halves> reduce_by_halving(Builder& builder, const Problem& problem, const std::vector<HalvingStep>& steps,
                                      Accumulator& result) {
  Range range{0, problem.count};
  std::vector<Halves> halves;
  for (const auto& [peer, keeps_front] : steps) {
    halves.push_back(halves_of(range, keeps_front));
    builder.send(peer, result.value(halves.back().given));
    builder.receive(peer, result.incoming(halves.back().kept));
    range = halves.back().kept;
    result.combine(range, peer);
  }
  return halves;
}

void allreduce_by_halving(Builder& builder, const Problem& problem, const patterns::Hypercube& cube,
                          Accumulator& result) {
  allreduce_by_halving(builder, problem, steps_on(cube, problem.rank), result);
}

void allreduce_by_halving(Builder& builder, const Problem& problem, const std::vector<HalvingStep>& steps,
                          Accumulator& result) {
  const std::vector<Halves> halves = reduce_by_halving(builder, problem, steps, result);
  result.deliver(halves.empty() ? Range{0, problem.count} : halves.back().kept);
  for (std::size_t step = steps.size(); step-- > 0;) {
    builder.send(steps[step].peer, problem.output.part(halves[step].kept));
    builder.receive(steps[step].peer, problem.output.part(halves[step].given));
  }
}

Prediction predict_allreduce_by_halving(const Problem& problem) {
  const patterns::Hypercube cube(problem.ranks);
  return {.steps = 2 * cube.dimensions() + (cube.extra() > 0 ? 2 : 0),
          .messages = 2 * std::int64_t{cube.corners()} * cube.dimensions() + 2 * cube.extra(),
          .units = 2 * problem.count * (cube.corners() - 1 + cube.extra())};
}

std::int64_t in_front_halves(std::int64_t count, int level) {
  // At each level ranges have two sizes, which differ by one.
  const std::int64_t ranges = std::int64_t{1} << level;
  const std::int64_t size = count / ranges;
  const std::int64_t larger = count % ranges;
  return (ranges - larger) * (size / 2) + larger * ((size + 1) / 2);
}

}  // namespace quadrille
