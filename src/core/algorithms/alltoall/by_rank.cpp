// All-to-all by swapping with the others as their numbers go, which is MPICH's order in place: at first nobody but rank
// 0 has a partner, and at the end nobody but the last. Here to be compared with.
//
// Steps: 2p - 3; in place times m + 1. Cost: steps (a + n b), n the largest block. Any number of ranks. Scratch:
// none, in place w segments for w in flight, for each of k partners at a time.

#include "algorithms/alltoall/swaps.hpp"
#include "patterns/partners.hpp"

namespace quadrille::alltoall {

namespace {

void build(Builder& builder, const Problem& problem) {
  swap_in_turn(builder, problem, patterns::partners_by_rank(problem.rank, problem.ranks));
}

Prediction predict(const Problem& problem) {
  return predict_swaps(problem, problem.ranks == 1 ? 0 : 2 * std::int64_t{problem.ranks} - 3);
}

}  // namespace

extern constexpr Algorithm by_rank =
    swapping("by_rank", "ranks swap blocks with one after another as their numbers go: MPICH's order in place",
             "Hofmann, Rünger: In-place algorithms for the symmetric all-to-all exchange with MPI, 2013",
             "2p - 3; in place times m + 1", build, predict);

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm by_rank = twin(alltoall::by_rank, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm by_rank = twin(alltoall::by_rank, Collective::alltoallw);

}  // namespace quadrille::alltoallw
