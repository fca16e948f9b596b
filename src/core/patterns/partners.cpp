#include "patterns/partners.hpp"

#include <algorithm>

#include "patterns/ring.hpp"
#include "patterns/tournament.hpp"

namespace quadrille::patterns {

std::vector<Rank> partners_by_rank(Rank rank, Rank ranks) {
  std::vector<Rank> order;
  for (Rank partner = 0; partner < ranks; ++partner) {
    if (partner != rank) order.push_back(partner);
  }
  return order;
}

std::vector<Rank> partners_by_shift(Rank rank, Rank ranks) {
  std::vector<Rank> order;
  for (Rank i = 0; i < ranks; ++i) {
    const Rank partner = at_distance(i, -rank, ranks);
    if (partner != rank) order.push_back(partner);
  }
  return order;
}

std::vector<Rank> partners_by_halves(Rank rank, Rank ranks) {
  std::vector<Rank> order;
  Rank low = 0;
  Rank high = ranks;
  while (low + 1 < high) {
    const Rank mid = low + (high - low) / 2;
    if (rank < mid) {
      const Rank n = high - mid;
      const Rank shift = std::min(rank - low, n - 1);
      for (Rank i = 0; i < n; ++i) order.push_back(mid + (i + shift) % n);
      high = mid;
    } else {
      const Rank n = mid - low;
      const Rank shift = std::min(rank - mid, n - 1);
      for (Rank i = 0; i < n; ++i) order.push_back(low + (shift - i + n) % n);
      low = mid;
    }
  }
  return order;
}

std::vector<Rank> partners_by_tournament(Rank rank, Rank ranks) {
  std::vector<Rank> order;
  for (Rank round = 0; round < tournament_rounds(ranks); ++round) {
    if (const auto partner = tournament_partner(rank, ranks, round)) order.push_back(*partner);
  }
  return order;
}

Rank partner_across(Rank place, Rank ours, Rank theirs, Rank step) {
  const Rank partner = at_distance(step, -place, std::max(ours, theirs));
  return partner < theirs ? partner : -1;
}

}  // namespace quadrille::patterns
