// Linear all-to-all: every message is independent of every other. Rank r starts with its neighbours, sending to r + 1,
// r + 2, ... and receiving from r - 1, r - 2, ..., so that with a bound on the messages in flight, however small, each
// send still finds its receive.
//
// Steps: p - 1. Cost: (p - 1)(a + n b), n the largest block. Any number of ranks; two buffers. No scratch.

#include "algorithms/alltoall/rotate.hpp"

namespace quadrille::alltoall {

namespace {

void build(Builder& builder, const Problem& problem) {
  rotate(builder, problem, problem.ranks);
}

}  // namespace

extern constexpr Algorithm linear = {
    .collective = Collective::alltoall,
    .name = "linear",
    .summary = "all messages at once",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {.not_in_place = true},
    .build = build,
    .predict = predict_rotation,
    .scratch_units = no_scratch,
};

}  // namespace quadrille::alltoall

namespace quadrille::alltoallv {

extern const Algorithm linear = twin(alltoall::linear, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm linear = twin(alltoall::linear, Collective::alltoallw);

}  // namespace quadrille::alltoallw
