#include "cost/simulation.hpp"

#include <algorithm>

#include "cost/simulated_world.hpp"

namespace quadrille::cost {

Subject subject_of(const Algorithm& algorithm, const Problem& problem, std::int64_t element_bytes,
                   const BlockSizes& sizes) {
  const Collective collective = algorithm.collective;
  const auto at = [collective, problem](Rank rank) {
    Problem own = problem;
    own.rank = rank;
    return problem_of(collective, own);
  };
  Subject subject;
  subject.element_bytes = element_bytes;
  subject.units = [collective, at, sizes](Rank rank, Buffer buffer, std::int32_t block) {
    return block_units(collective, at(rank), sizes, buffer, block);
  };
  for (Rank rank = 0; rank < problem.ranks; ++rank) subject.schedules.push_back(build(algorithm, at(rank)));
  return subject;
}

double Simulated::time() const {
  return *std::max_element(ends.begin(), ends.end());
}

Simulated simulate(const Subject& subject, const Topology& topology, const Model& model) {
  return World(subject, topology, model).run();
}

}  // namespace quadrille::cost
