#include "placement/reorder.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "placement/mapper.hpp"

namespace quadrille::placement {

namespace {

// The program waits for it: about a second of one core.
constexpr std::int64_t most_effort = 5'000'000;

// Each process is a slot.
struct Seats {
  Ground ground;
  std::vector<Rank> process;  // by slot
};

// Racks, and nodes of a rack, in the order of their first processes.
Seats seats_of(std::span<const Place> places, const cost::Model& model) {
  std::map<std::uint32_t, std::int32_t> rack_numbers;
  std::map<Place, std::int32_t> node_numbers;
  Seats seats;
  seats.ground.model = model;
  std::vector<std::int32_t> node_of_process;
  for (const Place& place : places) {
    const auto rack = rack_numbers.emplace(place.rack, static_cast<std::int32_t>(rack_numbers.size())).first;
    const auto [node, is_new] = node_numbers.emplace(place, seats.ground.nodes());
    if (is_new) seats.ground.rack_of.push_back(rack->second);
    node_of_process.push_back(node->second);
  }
  seats.process.resize(places.size());
  std::iota(seats.process.begin(), seats.process.end(), 0);
  const auto where = [&](Rank process) {
    const std::int32_t node = node_of_process[index(process)];
    return std::pair(seats.ground.rack_of[index(node)], node);
  };
  std::stable_sort(seats.process.begin(), seats.process.end(), [&](Rank a, Rank b) { return where(a) < where(b); });
  for (const Rank process : seats.process) seats.ground.node_of.push_back(node_of_process[index(process)]);
  return seats;
}

}  // namespace

Reordering reordering(std::span<const Sent> sent, std::span<const Place> places, const cost::Model& model) {
  Reordering result;
  result.number.resize(places.size());
  std::iota(result.number.begin(), result.number.end(), 0);
  Seats seats = seats_of(places, model);
  if (seats.ground.nodes() < 2) return result;
  Mapping mapping;
  mapping.phases.push_back({Graph(static_cast<Rank>(places.size()), sent), 1});
  mapping.given.resize(places.size());
  for (std::size_t slot = 0; slot < seats.process.size(); ++slot) {
    mapping.given[index(seats.process[slot])] = static_cast<std::int32_t>(slot);
  }
  mapping.ground = std::move(seats.ground);
  mapping.effort = std::min(most_effort, effort_for(mapping.phases));
  const std::vector<Candidate> all = candidates(mapping);
  const auto given = std::find_if(all.begin(), all.end(), [](const Candidate& one) { return one.method == "given"; });
  const double gain = given->seconds > 0 ? 1 - all.front().seconds / given->seconds : 0;
  if (gain < least_gain) return result;
  result.gain = gain;
  const Placement& best = all.front().placement;
  for (std::size_t rank = 0; rank < best.size(); ++rank) {
    result.number[index(seats.process[index(best[rank])])] = static_cast<Rank>(rank);
  }
  return result;
}

}  // namespace quadrille::placement
