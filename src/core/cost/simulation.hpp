#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "cost/model.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"

namespace quadrille::cost {

// All ranks' schedules, and what else their times depend on.
struct Subject {
  std::vector<Schedule> schedules;
  // Units of a caller's block.
  std::function<std::int64_t(Rank rank, Buffer buffer, std::int32_t block)> units;
  std::int64_t element_bytes = 1;  // of a unit of reductions
  std::int64_t window = 32;        // messages in flight of a rank, in each direction
};
// `sizes` are needed for v and w collectives only.
Subject subject_of(const Algorithm& algorithm, const Problem& problem, std::int64_t element_bytes,
                   const BlockSizes& sizes = {});

// Runs all ranks in virtual time, by the state machine that runs them in earnest. Every direction of a node's link and
// of a rack's uplink carries one message at a time, and a core does one thing at a time.
struct Simulated {
  std::vector<double> ends;  // by rank, when all begin at 0
  std::int64_t messages = 0;

  // The last.
  double time() const;
};
// Throws std::runtime_error if the ranks wait for each other.
Simulated simulate(const Subject& subject, const Topology& topology, const Model& model);

}  // namespace quadrille::cost
