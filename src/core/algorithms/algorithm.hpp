#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/collective.hpp"

namespace quadrille {

// What a schedule of the algorithm takes over all ranks, where each rank sends one message and receives one at a time
// (steps), for a count of at least one unit a rank.
struct Prediction {
  static constexpr std::int64_t unknown_steps = -1;

  std::int64_t steps = 0;  // or unknown_steps
  std::int64_t messages = 0;
  std::int64_t units = 0;  // sent by all ranks together

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

struct Restrictions {
  bool commutative = false;    // only for commutative operations
  bool not_in_place = false;   // needs two buffers; none of a rooted collective may
  bool even_ranks = false;     // an even number of them, or one
  bool ordered_nodes = false;  // an operation that does not commute only where the ranks of a node follow one another
};

// One line of the catalogue: how an algorithm is built, and what is known about it. In the formulas p is the number of
// ranks, n the bytes of one rank's data or, where there is a block for each rank, of a block, m the segments, k the
// width, a the latency of a message, b the time of a byte, c the time to reduce one.
struct Algorithm {
  Collective collective;
  std::string_view name;
  std::string_view summary;
  std::string_view paper;
  std::string_view steps;
  std::string_view cost;
  std::string_view scratch;
  Restrictions restrictions;
  bool logarithmic = false;   // one rank's schedule has O(log p) operations
  bool segmented = false;     // heeds Problem::segment
  bool fixed_order = false;   // of a reduction: can fold from rank 0 up, left to right
  bool hierarchical = false;  // heeds Problem::topology and Problem::room
  bool swaps = false;         // in place: partners swap segments, as many at a time as there is memory for
  bool gathers = false;       // a message may be put together from several places
  std::int32_t width = 0;     // of what has one (see Problem): its own choice
  std::int32_t channels = 1;
  void (*build)(Builder&, const Problem&);
  Prediction (*predict)(const Problem&);          // null: depends on the machine too much to be said in a formula
  std::int64_t (*scratch_units)(const Problem&);  // the most that one rank's schedule may take
};

// The same algorithm for a collective that differs only in how its buffers lie.
constexpr Algorithm twin(Algorithm algorithm, Collective collective) {
  algorithm.collective = collective;
  return algorithm;
}

// Why the algorithm can't serve the problem; empty if it can.
std::string refusal(const Algorithm& algorithm, const Problem& problem);

// What it takes, for any rank of the problem.
std::optional<Prediction> predict(const Algorithm& algorithm, const Problem& problem);
std::int64_t scratch_units(const Algorithm& algorithm, const Problem& problem);

// In words, one each.
std::vector<std::string_view> descriptions(const Restrictions& restrictions);

// One rank's schedule. Throws std::invalid_argument with the refusal where there is one.
Schedule build(const Algorithm& algorithm, const Problem& problem);

inline std::int64_t no_scratch(const Problem&) {
  return 0;
}

// One message for each rank but one, one after another.
inline Prediction predict_linear(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = others, .messages = others, .units = others * problem.count};
}

// p - 1 steps, in each of which every rank sends one message.
inline Prediction predict_rotation(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  return {.steps = others, .messages = others * problem.ranks, .units = others * problem.ranks * problem.count};
}

}  // namespace quadrille
