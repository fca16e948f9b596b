// All-to-all as a tournament: in every round ranks meet in pairs and swap the blocks they have for each other,
// everybody with everybody once, and nobody rests but one where their number is odd. No order has fewer steps.
//
// Steps: p - 1, for an odd p > 1 p; in place times m + 1. Cost: steps (a + n b), n the largest block. Any number
// of ranks. Scratch: none, in place w segments for w in flight, for each of k partners at a time.

#include "patterns/tournament.hpp"

#include "algorithms/alltoall/swaps.hpp"
#include "patterns/partners.hpp"

namespace quadrille::alltoall {

namespace {

void build(Builder& builder, const Problem& problem) {
  swap_in_turn(builder, problem, patterns::partners_by_tournament(problem.rank, problem.ranks));
}

Prediction predict(const Problem& problem) {
  return predict_swaps(problem, patterns::tournament_rounds(problem.ranks));
}

}  // namespace

extern constexpr Algorithm tournament = swapping(
    "tournament", "in every round ranks meet in pairs and swap their blocks; in place through a little scratch", "",
    "p - 1, for an odd p > 1 p; in place times m + 1", build, predict);

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm tournament = twin(alltoall::tournament, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm tournament = twin(alltoall::tournament, Collective::alltoallw);

}  // namespace quadrille::alltoallw
