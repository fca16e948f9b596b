#pragma once

#include <optional>

#include "patterns/ring.hpp"

namespace quadrille::patterns {

// A round-robin tournament: every pair of ranks meets once; in a round each rank has at most one partner.
inline Rank tournament_rounds(Rank ranks) {
  if (ranks < 2) return 0;
  return ranks % 2 == 0 ? ranks - 1 : ranks;
}

// A rank's partner in a round; with an odd number of ranks, one has none.
inline std::optional<Rank> tournament_partner(Rank rank, Rank ranks, Rank round) {
  // On a circle of odd size two ranks meet if their sum is the round, modulo the size; with an even number of ranks,
  // the last one meets the one that would be without a partner.
  const Rank circle = ranks % 2 == 0 ? ranks - 1 : ranks;
  const auto opposite = [&](Rank one) { return at_distance(round, -one, circle); };
  const auto half_of = [&](Rank sum) { return sum % 2 == 0 ? sum / 2 : (sum + circle) / 2; };
  if (rank == circle) return half_of(round);
  if (opposite(rank) != rank) return opposite(rank);
  return ranks % 2 == 0 ? std::optional<Rank>(circle) : std::nullopt;
}

}  // namespace quadrille::patterns
