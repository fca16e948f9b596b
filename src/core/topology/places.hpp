#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "topology/topology.hpp"

namespace quadrille {

// Where a process runs, in numbers that are the same for processes of one node and hardly for others.
struct Place {
  std::uint64_t node = 0;
  std::uint32_t rack = 0;  // 0: unknown

  friend auto operator<=>(const Place&, const Place&) = default;
};

// Where processes run, as far as this one has heard: what each has said of itself. Processes have numbers from 0 on.
// Where those of a node follow one another the memory depends on the number of nodes alone. Not thread-safe.
class Places {
 public:
  // Whether it has heard of all of them.
  bool know(std::span<const std::int32_t> processes) const;
  void learn(std::span<const std::int32_t> processes, std::span<const Place> places);
  // Of a communicator with these processes as ranks. It must have heard of all of them.
  Topology topology(std::span<const std::int32_t> processes) const;

  // Memory that it takes.
  std::int64_t bytes() const;

 private:
  static constexpr std::int32_t unknown = -1;
  // Processes from `begin` up to the next run are on one node.
  struct Run {
    std::int32_t begin = 0;
    std::int32_t node = unknown;
  };
  // Finds nodes by process; quick where one process follows another.
  class Cursor;

  void learn_nodes(std::span<const Place> places);
  std::int32_t number_of(const Place& place) const;

  std::vector<Place> nodes_;                // by number
  std::vector<std::int32_t> by_place_;      // their numbers, in the order of Place::node
  std::vector<Run> runs_ = {{}};            // either these, the last without end
  std::vector<std::int32_t> node_of_ = {};  // or, by process, where there would be too many; unknown behind its end
};

// The same by rank, of processes that need not be heard of.
Topology topology_of(std::span<const Place> places);

}  // namespace quadrille
