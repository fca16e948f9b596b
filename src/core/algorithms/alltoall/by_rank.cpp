// All-to-all by swapping with the other ranks in rank order, as MPICH does in place: at first only rank 0 and its
// partner are busy, at the end only the last ranks. For comparison.
//
// Any number of ranks. Scratch: none; in place w segments in flight for each of k partners.

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
    swapping("by_rank", "ranks swap blocks with the others in rank order, as MPICH does in place",
             "Hofmann, Rünger: In-place algorithms for the symmetric all-to-all exchange with MPI, 2013",
             "2p - 3; in place (2p - 3)(m + 2)", build, predict);

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm by_rank = twin(alltoall::by_rank, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm by_rank = twin(alltoall::by_rank, Collective::alltoallw);

}  // namespace quadrille::alltoallw
