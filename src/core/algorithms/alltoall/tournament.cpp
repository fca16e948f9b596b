// All-to-all as a tournament: in every round the ranks swap blocks in pairs, each pair once; with an odd number of
// ranks, one is idle in each round. No order has fewer steps.
//
// Any number of ranks. Scratch: none; in place w segments in flight for each of k partners.

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

extern constexpr Algorithm tournament =
    swapping("tournament", "in every round the ranks swap blocks in pairs; in place through a little scratch", "",
             "p - 1, + 1 if p is odd; in place (p - 1)(m + 2), + m + 2 if p is odd", build, predict);

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm tournament = twin(alltoall::tournament, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm tournament = twin(alltoall::tournament, Collective::alltoallw);

}  // namespace quadrille::alltoallw
