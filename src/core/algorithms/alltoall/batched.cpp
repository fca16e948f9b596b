// Batched all-to-all: as linear, but in batches of k messages in each direction; a batch starts when the previous one
// is complete. The algorithm itself limits the messages in flight.
//
// Any number of ranks; two buffers; k is the width, as in batched:8; default 16. No scratch.

#include "algorithms/alltoall/rotate.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::alltoall {

namespace {

void build(Builder& builder, const Problem& problem) {
  rotate(builder, problem, problem.width);
}

void outline(const Problem& problem, Outline& out) {
  out.all_pairs(rounds::number(problem.count), problem.width);
}

}  // namespace

extern constexpr Algorithm batched = {
    .collective = Collective::alltoall,
    .name = "batched",
    .summary = "k messages in each direction at a time",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {.not_in_place = true},
    .width = 16,
    .build = build,
    .predict = predict_rotation,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm batched = twin(alltoall::batched, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm batched = twin(alltoall::batched, Collective::alltoallw);

}  // namespace quadrille::alltoallw
