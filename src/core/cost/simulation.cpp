#include "cost/simulation.hpp"

#include <algorithm>

#include "cost/simulated_world.hpp"

namespace quadrille::cost {

double Simulated::time() const {
  return *std::max_element(ends.begin(), ends.end());
}

Simulated simulate(const AllRanks& all, std::int64_t element_bytes, const Topology& topology, const Model& model) {
  const auto build = [&](Rank rank) { return all.schedules[static_cast<std::size_t>(rank)]; };
  return World({static_cast<Rank>(all.schedules.size()), element_bytes, build, all.units}, topology, model).run();
}

Simulated simulate(const Algorithm& algorithm, const Problem& problem, std::int64_t element_bytes,
                   const Topology& topology, const Model& model) {
  const Collective collective = algorithm.collective;
  const auto build = [&](Rank rank) { return quadrille::build(algorithm, problem_of(collective, problem, rank)); };
  const auto block_size = [&](Rank, Rank) { return problem.count; };
  const auto units = [&](Rank rank, Buffer buffer, std::int32_t block) {
    return block_units(collective, problem_of(collective, problem, rank), block_size, buffer, block);
  };
  return World({problem.ranks, element_bytes, build, units}, topology, model).run();
}

}  // namespace quadrille::cost
