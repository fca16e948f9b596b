#pragma once

#include <vector>

#include "schedule/data.hpp"

// Orders in which a rank meets every other one, once each, to swap something. If every rank keeps to its order, and a
// meeting waits for both, none waits for ever: all meetings can be numbered so that each rank's numbers grow.
namespace quadrille::patterns {

// As their numbers go, which is MPICH's way: 2p - 3 steps, since nobody but rank 0's partner has one at first.
std::vector<Rank> partners_by_rank(Rank rank, Rank ranks);

// Those meet in step i whose numbers add up to i, modulo p: p steps (Hofmann, Rünger 2013, figure 3).
std::vector<Rank> partners_by_shift(Rank rank, Rank ranks);

// Halves meet each other first, then each within itself: at most p + ceil(log2 p) - 2 steps, p - 1 for powers of two
// (likewise, figure 4).
std::vector<Rank> partners_by_halves(Rank rank, Rank ranks);

// Those of tournament.hpp: p - 1 steps, or p for an odd p > 1.
std::vector<Rank> partners_by_tournament(Rank rank, Rank ranks);

// Everybody of one group of ranks meets everybody of another, in steps 0 ... max(ours, theirs) - 1: whom the member
// `place` of ours meets, or -1.
Rank partner_across(Rank place, Rank ours, Rank theirs, Rank step);

}  // namespace quadrille::patterns
