// Pairwise all-to-all: in step k rank r sends to r + k and receives from r - k, and continues when both are complete.
// One message in flight in each direction: low load on switches and on MPI's buffers.
//
// Any number of ranks; two buffers. No scratch.

#include "algorithms/alltoall/rotate.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::alltoall {

namespace {

void build(Builder& builder, const Problem& problem) {
  rotate(builder, problem, 1);
}

void outline(const Problem& problem, Outline& out) {
  out.all_pairs(rounds::number(problem.count), 1);
}

}  // namespace

extern constexpr Algorithm pairwise = {
    .collective = Collective::alltoall,
    .name = "pairwise",
    .summary = "in step k an exchange with the ranks at distance k and -k",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {.not_in_place = true},
    .build = build,
    .predict = predict_rotation,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm pairwise = twin(alltoall::pairwise, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm pairwise = twin(alltoall::pairwise, Collective::alltoallw);

}  // namespace quadrille::alltoallw
