#include "algorithms/halving.hpp"

namespace quadrille {

Halves halves_of(Range range, bool lower) {
  const std::int64_t middle = range.begin + (range.end - range.begin) / 2;
  const Range front{range.begin, middle};
  const Range back{middle, range.end};
  return lower ? Halves{front, back} : Halves{back, front};
}

std::vector<Halves> reduce_by_halving(Builder& builder, const Problem& problem, const patterns::Hypercube& cube,
                                      Accumulator& result) {
  Range range{0, problem.count};
  std::vector<Halves> halves;
  for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
    const Rank peer = cube.neighbour(problem.rank, dimension);
    halves.push_back(halves_of(range, problem.rank < peer));
    builder.send(peer, result.value(halves.back().given));
    builder.receive(peer, result.incoming(halves.back().kept));
    range = halves.back().kept;
    result.combine(range, peer);
  }
  return halves;
}

void allreduce_by_halving(Builder& builder, const Problem& problem, const patterns::Hypercube& cube,
                          Accumulator& result) {
  const std::vector<Halves> halves = reduce_by_halving(builder, problem, cube, result);
  result.deliver(halves.empty() ? Range{0, problem.count} : halves.back().kept);
  for (int dimension = cube.dimensions() - 1; dimension >= 0; --dimension) {
    const Rank peer = cube.neighbour(problem.rank, dimension);
    const auto& [kept, given] = halves[static_cast<std::size_t>(dimension)];
    builder.send(peer, problem.output.part(kept));
    builder.receive(peer, problem.output.part(given));
  }
}

std::int64_t in_front_halves(std::int64_t count, int level) {
  // At each level ranges have two sizes, which differ by one.
  const std::int64_t ranges = std::int64_t{1} << level;
  const std::int64_t size = count / ranges;
  const std::int64_t larger = count % ranges;
  return (ranges - larger) * (size / 2) + larger * ((size + 1) / 2);
}

}  // namespace quadrille
