#pragma once

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"

namespace quadrille {

// Prefix reductions by recursive doubling: calls from_below(operand) for operands from lower ranks, the nearest first;
// each is the partial result of a block of consecutive ranks. Partial results are exchanged across one dimension after
// another; a peer that does not exist is skipped, as no rank depends on it.
template <class FromBelow>
void prefix_by_doubling(Builder& builder, const Problem& problem, FromBelow&& from_below) {
  const Range all{0, problem.count};
  // The exchanged partial result is separate from the prefix.
  Problem exchanged = problem;
  if (problem.in_place && problem.ranks > 1 && problem.count > 0) {
    exchanged.input = builder.scratch(problem.count);
    builder.copy(problem.input, exchanged.input);
  }
  exchanged.in_place = false;
  exchanged.output.length = 0;
  Accumulator partial(builder, exchanged);
  for (std::int64_t bit = 1; bit < problem.ranks; bit *= 2) {
    const std::int64_t peer = problem.rank ^ bit;
    if (peer >= problem.ranks) continue;
    builder.send(static_cast<Rank>(peer), partial.value(all));
    builder.receive(static_cast<Rank>(peer), partial.incoming(all));
    if (peer < problem.rank) from_below(partial.incoming(all));
    if (2 * bit < problem.ranks) partial.combine(all, static_cast<Rank>(peer));
  }
}

inline Prediction predict_prefix_by_doubling(const Problem& problem) {
  std::int64_t messages = 0;
  for (std::int64_t bit = 1; bit < problem.ranks; bit *= 2) {
    const std::int64_t rest = problem.ranks % (2 * bit) - bit;
    messages += problem.ranks / (2 * bit) * 2 * bit + (rest > 0 ? 2 * rest : 0);
  }
  return {.steps = patterns::ceil_log2(problem.ranks), .messages = messages, .units = messages * problem.count};
}

inline std::int64_t prefix_by_doubling_scratch_units(const Problem& problem) {
  const std::int64_t copied = problem.in_place ? problem.count : 0;
  return problem.ranks == 1 ? 0 : copied + Accumulator::scratch_units_without_output(problem);
}

}  // namespace quadrille
