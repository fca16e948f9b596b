// All-to-all by hierarchical sets: the ranks are halved, the halves swap with each other, then each half recursively.
// Ranks that are close swap late and at the same time, which suits torus networks.
//
// Any number of ranks. Scratch: none; in place w segments in flight for each of k partners.

#include "algorithms/alltoall/swaps.hpp"
#include "patterns/partners.hpp"

namespace quadrille::alltoall {

namespace {

void build(Builder& builder, const Problem& problem) {
  swap_in_turn(builder, problem, patterns::partners_by_halves(problem.rank, problem.ranks));
}

Prediction predict(const Problem& problem) {
  std::int64_t steps = 0;
  for (Rank set = problem.ranks; set > 1; set = (set + 1) / 2) steps += (set + 1) / 2;
  return predict_swaps(problem, steps);
}

}  // namespace

extern constexpr Algorithm hierarchical_sets =
    swapping("hierarchical_sets", "halves of the ranks swap blocks with each other, then each half recursively",
             "Hofmann, Rünger: In-place algorithms for the symmetric all-to-all exchange with MPI, 2013",
             "at most p + ceil(log2 p) - 2; in place at most (p + ceil(log2 p) - 2)(m + 2)", build, predict);

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm hierarchical_sets = twin(alltoall::hierarchical_sets, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm hierarchical_sets = twin(alltoall::hierarchical_sets, Collective::alltoallw);

}  // namespace quadrille::alltoallw
