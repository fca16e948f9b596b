#pragma once

#include <vector>

#include "schedule/data.hpp"

// Orders in which a rank swaps with every other rank once. They are free of deadlock even if every swap waits for both
// ranks: all swaps can be numbered such that the numbers of each rank increase.
namespace quadrille::patterns {

// In rank order, as MPICH: 2p - 3 steps, since at first only rank 0 and its partner are busy.
std::vector<Rank> partners_by_rank(Rank rank, Rank ranks);

// Partners in step i have the sum i, modulo p: p steps (Hofmann, Rünger 2013, figure 3).
std::vector<Rank> partners_by_shift(Rank rank, Rank ranks);

// Halves swap with each other first, then each half recursively: at most p + ceil(log2 p) - 2 steps, p - 1 for powers
// of two (ibid., figure 4).
std::vector<Rank> partners_by_halves(Rank rank, Rank ranks);

// The rounds of tournament.hpp: p - 1 steps, or p for an odd p > 1.
std::vector<Rank> partners_by_tournament(Rank rank, Rank ranks);

// Every rank of one group swaps with every rank of another, in steps 0 ... max(ours, theirs) - 1: the partner of member
// `place` of ours, or -1.
Rank partner_across(Rank place, Rank ours, Rank theirs, Rank step);

}  // namespace quadrille::patterns
