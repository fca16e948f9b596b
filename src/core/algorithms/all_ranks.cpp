#include "algorithms/all_ranks.hpp"

namespace quadrille {

AllRanks all_ranks(const Algorithm& algorithm, const Problem& problem, const BlockSizes& sizes) {
  const auto by_algorithm = [&](const Problem& own) { return build(algorithm, own); };
  return all_ranks(algorithm.collective, by_algorithm, problem, sizes);
}

AllRanks all_ranks(Collective collective, const Build& build, const Problem& problem, const BlockSizes& sizes) {
  AllRanks all;
  all.units = [collective, problem, sizes](Rank rank, Buffer buffer, std::int32_t block) -> std::int64_t {
    const Problem own = problem_of(collective, problem, rank);
    return block < block_count(collective, own, buffer) ? block_units(collective, own, sizes, buffer, block) : -1;
  };
  for (Rank rank = 0; rank < problem.ranks; ++rank)
    all.schedules.push_back(build(problem_of(collective, problem, rank)));
  return all;
}

}  // namespace quadrille
