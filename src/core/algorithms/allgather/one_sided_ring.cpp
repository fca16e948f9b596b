// One-sided ring allgather: in each step every rank puts the block that it has received last into the memory of the
// next.
//
// Data in a window, in place; any number of ranks. No scratch.

#include "algorithms/one_sided.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::allgather {

namespace {

void push(Builder& builder, const Problem& problem, const one_sided::Notices& notices, Rank previous, Rank next) {
  builder.notify(previous, notices.of_target(problem.rank), 1);  // ready
  const Added ready = builder.await(notices.of_target(next), 1);
  Added here;
  for (Rank step = 1; step < problem.ranks; ++step) {
    const Region block = problem.output_block(patterns::at_distance(problem.rank, 1 - step, problem.ranks));
    builder.after(builder.put(next, block, builder.at(next, block)), {ready, here});
    const Added arrived = builder.flush(next);
    builder.after(builder.notify(next, notices.of_source(problem.rank), step), {arrived});
    here = builder.await(notices.of_source(previous), step);
  }
}

void pull(Builder& builder, const Problem& problem, const one_sided::Notices& notices, Rank previous, Rank next) {
  Added here;
  for (Rank step = 1; step < problem.ranks; ++step) {
    const Region block = problem.output_block(patterns::at_distance(problem.rank, -step, problem.ranks));
    builder.after(builder.notify(next, notices.of_source(problem.rank), step), {here});
    const Added there = builder.await(notices.of_source(previous), step);
    here = builder.get(previous, builder.at(previous, block), block);
    builder.after(here, {there});
  }
  builder.fence();
  builder.notify(previous, notices.of_target(problem.rank), 1);  // it may be overwritten
  builder.await(notices.of_target(next), 1);
}

void build(Builder& builder, const Problem& problem) {
  if (problem.count == 0 || problem.ranks == 1) return;
  const one_sided::Notices notices(builder, problem, problem.ranks - 1);
  const Rank previous = patterns::at_distance(problem.rank, -1, problem.ranks);
  const Rank next = patterns::at_distance(problem.rank, 1, problem.ranks);
  (problem.pulls ? pull : push)(builder, problem, notices, previous, next);
}

void outline(const Problem& problem, Outline& out) {
  out.shift(1, rounds::number(problem.count), problem.ranks - 1);
}

}  // namespace

extern const Algorithm one_sided_ring = {
    .collective = Collective::allgather,
    .name = "one_sided_ring",
    .summary = "blocks are put around a ring of windows",
    .paper = "",
    .steps = "p - 1",
    .cost = "(p - 1)(a + n b)",
    .scratch = "0",
    .restrictions = {.in_place = true, .exposed = true},
    .build = build,
    .predict = predict_rotation,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::allgather
