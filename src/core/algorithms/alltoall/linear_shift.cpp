// All-to-all by linear shift: in step i two ranks swap their blocks if their sum is i, modulo p.
//
// Any number of ranks. Scratch: none; in place w segments in flight for each of k partners.

#include "algorithms/alltoall/swaps.hpp"
#include "patterns/partners.hpp"

namespace quadrille::alltoall {

namespace {

void build(Builder& builder, const Problem& problem) {
  swap_in_turn(builder, problem, patterns::partners_by_shift(problem.rank, problem.ranks));
}

Prediction predict(const Problem& problem) {
  return predict_swaps(problem, problem.ranks < 3 ? problem.ranks - 1 : problem.ranks);
}

}  // namespace

extern constexpr Algorithm linear_shift =
    swapping("linear_shift", "in step i two ranks swap blocks if their sum is i, modulo p",
             "Hofmann, Rünger: In-place algorithms for the symmetric all-to-all exchange with MPI, 2013",
             "p - 1, + 1 if p > 2; in place (p - 1)(m + 2), + m + 2 if p > 2", build, predict);

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm linear_shift = twin(alltoall::linear_shift, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm linear_shift = twin(alltoall::linear_shift, Collective::alltoallw);

}  // namespace quadrille::alltoallw
