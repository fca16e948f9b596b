#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/outline.hpp"
#include "compose/problem.hpp"
#include "patterns/hypercube.hpp"
#include "patterns/ring.hpp"

// Rounds that several algorithms have in common; see Outline.
namespace quadrille::rounds {

inline double number(std::int64_t units) {
  return static_cast<double>(units);
}

// Up or down a binomial tree, the rounds with the shortest distance first or last. `units_of(distance)` are those of a
// message in that round.
template <class UnitsOf>
void up(Outline& out, Rank ranks, const UnitsOf& units_of, double reduced = 0) {
  for (std::int64_t distance = 1; distance < ranks; distance *= 2) {
    out.tree(static_cast<Rank>(distance), units_of(static_cast<Rank>(distance)));
    if (reduced > 0) out.reduce(reduced);
  }
}
template <class UnitsOf>
void down(Outline& out, Rank ranks, const UnitsOf& units_of) {
  for (std::int64_t distance = std::int64_t{1} << std::max(0, patterns::ceil_log2(ranks) - 1);
       distance >= 1 && distance < ranks; distance /= 2) {
    out.tree(static_cast<Rank>(distance), units_of(static_cast<Rank>(distance)));
  }
}

// Across all dimensions of a hypercube, the shortest distance first. Where ranks are no power of two, some are
// represented by others: so many units before and after.
template <class UnitsOf>
void across(Outline& out, Rank ranks, const UnitsOf& units_of, double reduced_of_units = 0) {
  for (Rank bit = 1; bit < patterns::Hypercube(ranks).corners(); bit *= 2) {
    out.exchange(bit, units_of(bit));
    if (reduced_of_units > 0) out.reduce(reduced_of_units * units_of(bit));
  }
}
inline void represented(Outline& out, Rank ranks, double units, double reduced = 0) {
  if (patterns::Hypercube(ranks).extra() == 0) return;
  out.tree(1, units);
  if (reduced > 0) out.reduce(reduced);
}

// A reduce-scatter of so many units by halving the vector while doubling the distance.
inline void halve(Outline& out, Rank ranks, double units) {
  represented(out, ranks, units, units);
  across(
      out, ranks, [&](Rank bit) { return units / (2 * bit); }, 1);
}

// Segments of the problem, and units of each.
inline std::int64_t segments(const Problem& problem) {
  return patterns::segments(problem.count, problem.segment);
}
inline double segment_units(const Problem& problem) {
  return number(problem.count) / number(segments(problem));
}

// As many messages as a rank may have in flight by itself.
inline constexpr Rank in_flight = 32;

}  // namespace quadrille::rounds
