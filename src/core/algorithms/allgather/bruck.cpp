// Bruck's allgather: in step k every rank sends all its blocks to the rank 2^k places before it, so that the number of
// blocks doubles; in the last step only the missing ones. A rank has consecutive blocks, from its own on, modulo p;
// they are received at their final position.
//
// Any number of ranks. No scratch, but a message that wraps around is packed.

#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"

namespace quadrille::allgather {

namespace {

void build(Builder& builder, const Problem& problem) {
  builder.copy(problem.input, problem.output_block(problem.rank));
  for (std::int64_t have = 1; have < problem.ranks; have *= 2) {
    const Rank distance = static_cast<Rank>(have);
    const Rank blocks = std::min(distance, problem.ranks - distance);
    const Rank from = patterns::at_distance(problem.rank, distance, problem.ranks);
    const Rank to = patterns::at_distance(problem.rank, -distance, problem.ranks);
    builder.send(to, problem.output_blocks(problem.rank, blocks));
    builder.receive(from, problem.output_blocks(from, blocks));
  }
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t steps = patterns::ceil_log2(problem.ranks);
  return {.steps = steps, .messages = steps * problem.ranks, .units = others * problem.ranks * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  for (std::int64_t distance = 1; distance < problem.ranks; distance *= 2) {
    out.shift(static_cast<Rank>(distance),
              rounds::number(problem.count * std::min(distance, problem.ranks - distance)));
  }
}

}  // namespace

extern constexpr Algorithm bruck = {
    .collective = Collective::allgather,
    .name = "bruck",
    .summary = "the number of blocks on each rank doubles in each step",
    .paper = "Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications, 1997",
    .steps = "ceil(log2 p)",
    .cost = "ceil(log2 p) a + (p - 1) n b",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .gathers = true,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::allgather

namespace quadrille::allgatherv {

extern const Algorithm bruck = [] {
  Algorithm algorithm = twin(allgather::bruck, Collective::allgatherv);
  algorithm.logarithmic = false;  // blocks are not contiguous: a schedule has p regions
  return algorithm;
}();

}  // namespace quadrille::allgatherv
