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

std::vector<std::string_view> in_words(const Restrictions& restrictions) {
  std::vector<std::string_view> words;
  if (restrictions.commutative) words.push_back("commutative operation");
  if (restrictions.not_in_place) words.push_back("not in place");
  return words;
}

Schedule build(const Algorithm& algorithm, const Problem& problem) {
  if (const std::string why = refusal(algorithm, problem); !why.empty()) throw std::invalid_argument(why);
  const Problem named = problem_of(algorithm.collective, problem);
  Builder builder(problem.rank, problem.ranks, unit_of(algorithm.collective));
  algorithm.build(builder, named);
  return builder.finish(algorithm.channels);
}

}  // namespace quadrille
