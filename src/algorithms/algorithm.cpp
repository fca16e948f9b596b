#include "algorithms/algorithm.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace quadrille {

std::string refusal(const Algorithm& algorithm, const Problem& problem) {
  if (problem.in_place && !traits(algorithm.collective).may_be_in_place) {
    return fmt::format("{} has one buffer: there is no in-place form", name(algorithm.collective));
  }
  if (algorithm.restrictions.commutative && !problem.commutative) {
    return fmt::format("{} {} needs a commutative operation", name(algorithm.collective), algorithm.name);
  }
  if (algorithm.restrictions.not_in_place && problem.in_place) {
    return fmt::format("{} {} needs separate input and output", name(algorithm.collective), algorithm.name);
  }
  return {};
}

std::string to_text(const Restrictions& restrictions) {
  std::string text;
  const auto add = [&](bool holds, std::string_view words) {
    if (holds) text += (text.empty() ? "" : ", ") + std::string(words);
  };
  add(restrictions.commutative, "commutative operation");
  add(restrictions.not_in_place, "not in place");
  return text.empty() ? "none" : text;
}

Schedule build(const Algorithm& algorithm, const Problem& problem) {
  if (const std::string why = refusal(algorithm, problem); !why.empty()) throw std::invalid_argument(why);
  const Problem named = problem_of(algorithm.collective, problem);
  Builder builder(problem.rank, problem.ranks, unit_of(algorithm.collective));
  algorithm.build(builder, named);
  return builder.finish(algorithm.channels);
}

}  // namespace quadrille
