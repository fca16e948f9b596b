#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "placement/load.hpp"

namespace quadrille::placement {

// Where to place the ranks of a program.
struct Mapping {
  std::vector<Phase> phases;  // what it does
  Ground ground;
  Placement given;                   // where its ranks are today; none: that is not known
  std::vector<std::int32_t> fixed;   // by rank: the slot that it has to keep, or -1; none: every rank may move
  std::uint64_t seed = 1;            // the same seed, the same result
  std::int64_t effort = 20'000'000;  // edges that a search may look at
  // One more method, by_scotch of the layer partition; null: none.
  std::optional<Placement> (*scotch)(const Mapping& mapping) = nullptr;

  Rank ranks() const { return phases.empty() ? 0 : phases.front().graph.ranks(); }
};

// A smaller part of the time that is saved is none: predictions are not as good as that.
inline constexpr double least_gain = 0.02;

// Edges that a search for these phases is to look at: small problems need few.
std::int64_t effort_for(std::span<const Phase> phases);

struct Candidate {
  std::string_view method;
  Placement placement;
  double seconds = 0;  // predicted
  double total = 0;    // see Load
};

// By all methods, the best by prediction first, of those that take the same time the one with the least total: none of
// them is best for every program. Throws std::invalid_argument if there are fewer slots than ranks, or two ranks are
// fixed to one slot.
std::vector<Candidate> candidates(const Mapping& mapping);

// What a program sends where its ranks are placed so.
using PhasesOf = std::function<std::vector<Phase>(const Placement& placement)>;

// The same of a program whose messages depend on where its ranks are, as those of collectives that know nodes do: each
// candidate is judged by its own messages, and the search goes on from those of the best. The mapping's phases are not
// looked at.
std::vector<Candidate> candidates(Mapping mapping, const PhasesOf& phases_of);

// Single methods. They heed `fixed`.
// Nodes are filled one after another, each with the ranks that communicate most with those that are there already.
Placement greedy(const Mapping& mapping);
// Swaps of two ranks, or of a rank and an empty slot, as long as one is better; then, while there is effort left, from
// where a few random swaps lead.
Placement refined(const Mapping& mapping, Placement start, std::int64_t effort);

}  // namespace quadrille::placement
