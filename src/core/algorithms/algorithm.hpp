#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/collective.hpp"
#include "algorithms/outline.hpp"

namespace quadrille {

// The predicted cost of an algorithm over all ranks, for at least one unit per rank. In a step each rank sends at most
// one message and receives at most one.
struct Prediction {
  static constexpr std::int64_t unknown_steps = -1;

  std::int64_t steps = 0;  // or unknown_steps
  std::int64_t messages = 0;
  std::int64_t units = 0;  // sent by all ranks together

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

struct Restrictions {
  bool commutative = false;     // only for commutative operations
  bool not_in_place = false;    // needs separate buffers; no algorithm of a rooted collective may set this
  bool in_place = false;        // only in place
  bool one_node = false;        // all ranks share memory
  bool trusts_lengths = false;  // blocks that differ from what others expect are not noticed: not in checked mode
  bool offloads = false;        // needs Problem::offloads
  bool exposed = false;         // needs Problem::exposed
  bool even_ranks = false;      // an even number of them, or one
  bool ordered_nodes = false;   // non-commutative operations only if the ranks of every node are consecutive
};

// An entry of the catalogue: how to build the algorithm, and its properties. In the formulas p is the number of ranks,
// at least two, n the size of a rank's data in bytes or, where there is a block for each rank, of the largest block,
// m the number of segments, k the width, a the latency of a message, b the time to send a byte, c the time to reduce
// one. Those of steps and cost are about the critical path, of swaps with one partner at a time; tests evaluate them
// against the schedules (tests/proof/formulas says what is understood). Words stand where the machine decides.
struct Algorithm {
  Collective collective;
  std::string_view name;
  std::string_view summary;
  std::string_view paper;
  std::string_view steps;
  std::string_view cost;
  std::string_view scratch;
  Restrictions restrictions;
  bool logarithmic = false;   // a schedule has O(log p) operations
  bool segmented = false;     // uses Problem::segment
  bool fixed_order = false;   // of a reduction: can reduce in rank order, left to right
  bool hierarchical = false;  // uses Problem::topology and Problem::room
  bool swaps = false;         // in place: partners swap segments, as many as the memory allows
  bool gathers = false;       // a message may consist of several regions
  bool offered = true;        // for choice; otherwise run only by name: what some MPI library does (see knowledge/)
  std::int32_t width = 0;     // default width, if it has one (see Problem)
  std::int32_t channels = 1;
  void (*build)(Builder&, const Problem&);
  Prediction (*predict)(const Problem&);          // null: depends on the machine
  std::int64_t (*scratch_units)(const Problem&);  // the maximum of any rank
  void (*outline)(const Problem&, Outline&);
  // Whether the schedule is that for one unit, with all offsets and lengths as many times as long as there are units;
  // null: never.
  bool (*scales)(const Problem&) = nullptr;
};

// For Algorithm::scales.
constexpr bool at_any_size(const Problem&) {
  return true;
}

// The same algorithm for a collective that differs only in its buffers.
constexpr Algorithm twin(Algorithm algorithm, Collective collective) {
  algorithm.collective = collective;
  return algorithm;
}

// Why the algorithm is not applicable to the problem; empty if it is.
std::string refusal(const Algorithm& algorithm, const Problem& problem);

// The same for every rank of the problem.
std::optional<Prediction> predict(const Algorithm& algorithm, const Problem& problem);
std::int64_t scratch_units(const Algorithm& algorithm, const Problem& problem);
bool scales(const Algorithm& algorithm, const Problem& problem);
void outline(const Algorithm& algorithm, const Problem& problem, Outline& out);

// One description for each restriction.
std::vector<std::string_view> descriptions(const Restrictions& restrictions);

// One rank's schedule. Throws std::invalid_argument with the refusal if the algorithm is not applicable.
Schedule build(const Algorithm& algorithm, const Problem& problem);

inline std::int64_t no_scratch(const Problem&) {
  return 0;
}

inline void no_outline(const Problem&, Outline&) {}

// p - 1 messages, one after another.
inline Prediction predict_linear(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = others, .messages = others, .units = others * problem.count};
}

// p - 1 steps with one message per rank.
inline Prediction predict_rotation(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = others, .messages = others * problem.ranks, .units = others * problem.ranks * problem.count};
}

}  // namespace quadrille
