// Linear all-to-all: all messages are independent. Rank r starts with its neighbours, sending to r + 1, r + 2, ... and
// receiving from r - 1, r - 2, ..., so that sends match receives under any limit on messages in flight.
//
// Any number of ranks; two buffers. No scratch.

#include "algorithms/alltoall/rotate.hpp"
#include "algorithms/rounds.hpp"

namespace quadrille::alltoall {

namespace {

void build(Builder& builder, const Problem& problem) {
  rotate(builder, problem, problem.ranks);
}

void outline(const Problem& problem, Outline& out) {
  out.all_pairs(rounds::number(problem.count), rounds::in_flight);
}

}  // namespace

extern constexpr Algorithm linear = {
    .collective = Collective::alltoall,
    .name = "linear",
    .summary = "all messages are independent",
    .paper = "",
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

extern const Algorithm linear = twin(alltoall::linear, Collective::alltoallv);

}  // namespace quadrille::alltoallv

namespace quadrille::alltoallw {

extern const Algorithm linear = twin(alltoall::linear, Collective::alltoallw);

}  // namespace quadrille::alltoallw
