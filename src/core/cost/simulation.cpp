#include "cost/simulation.hpp"

#include <algorithm>

#include "cost/simulated_world.hpp"

namespace quadrille::cost {

double Simulated::time() const {
  return *std::max_element(ends.begin(), ends.end());
}

Simulated simulate(const AllRanks& all, std::int64_t element_bytes, const Topology& topology, const Model& model) {
  return World(all, element_bytes, topology, model).run();
}

}  // namespace quadrille::cost
