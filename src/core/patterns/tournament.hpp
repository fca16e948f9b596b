#pragma once

#include <optional>

#include "patterns/ring.hpp"

namespace quadrille::patterns {

// Everybody meets everybody else once, in rounds in which each meets at most one.
inline Rank tournament_rounds(Rank ranks) {
  if (ranks < 2) return 0;
  return ranks % 2 == 0 ? ranks - 1 : ranks;
}

// Whom a rank meets in a round; nobody, where there is an odd number of ranks and it is this one's turn to rest.
inline std::optional<Rank> tournament_partner(Rank rank, Rank ranks, Rank round) {
  // On a circle of an odd number, those meet whose places add up to the round's number; with an even number of ranks
  // the last one stands aside and meets the one who would rest.
  const Rank circle = ranks % 2 == 0 ? ranks - 1 : ranks;
  const auto opposite = [&](Rank one) { return at_distance(round, -one, circle); };
  const auto half_of = [&](Rank sum) { return sum % 2 == 0 ? sum / 2 : (sum + circle) / 2; };
  if (rank == circle) return half_of(round);
  if (opposite(rank) != rank) return opposite(rank);
  return ranks % 2 == 0 ? std::optional<Rank>(circle) : std::nullopt;
}

}  // namespace quadrille::patterns
