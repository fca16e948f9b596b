#pragma once

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"

namespace quadrille {

// Prefix reductions by recursive doubling: calls from_below(arrived) for what ranks below this one have sent, the
// nearest ones first; each time it is the sum of a block of consecutive ranks. What a rank has heard of is combined and
// exchanged across dimension after dimension; a peer that does not exist is left out, as nobody is behind it.
template <class FromBelow>
void prefix_by_doubling(Builder& builder, const Problem& problem, FromBelow&& from_below) {
  const Range all{0, problem.count};
  // What is passed on is kept apart from the result.
  Problem passed_on = problem;
  if (problem.in_place && problem.ranks > 1 && problem.count > 0) {
    passed_on.input = builder.scratch(problem.count);
    builder.copy(problem.input, passed_on.input);
  }
  passed_on.in_place = false;
  passed_on.output.length = 0;
  Accumulator heard(builder, passed_on);
  for (std::int64_t bit = 1; bit < problem.ranks; bit *= 2) {
    const std::int64_t peer = problem.rank ^ bit;
    if (peer >= problem.ranks) continue;
    builder.send(static_cast<Rank>(peer), heard.value(all));
    builder.receive(static_cast<Rank>(peer), heard.incoming(all));
    if (peer < problem.rank) from_below(heard.incoming(all));
    if (2 * bit < problem.ranks) heard.combine(all, static_cast<Rank>(peer));
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
