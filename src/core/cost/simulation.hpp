#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/all_ranks.hpp"
#include "cost/model.hpp"
#include "topology/topology.hpp"

namespace quadrille::cost {

// Runs all ranks in virtual time, by the state machine that runs them in earnest. Every direction of a node's link and
// of a rack's uplink carries one message at a time, and a core does one thing at a time.
struct Simulated {
  std::vector<double> ends;  // by rank, when all begin at 0
  std::int64_t messages = 0;
  std::int64_t events = 0;    // what was simulated, one after another
  std::int64_t programs = 0;  // different ones: see SharedPrograms

  // The last.
  double time() const;
};
// `element_bytes` are those of a unit of reductions. Throws std::runtime_error if the ranks wait for each other.
Simulated simulate(const AllRanks& all, std::int64_t element_bytes, const Topology& topology, const Model& model);
// The same without the schedules of all ranks at once: each is built in its turn, and kept only if it differs from the
// others. For collectives with blocks of one size.
Simulated simulate(const Algorithm& algorithm, const Problem& problem, std::int64_t element_bytes,
                   const Topology& topology, const Model& model);

}  // namespace quadrille::cost
