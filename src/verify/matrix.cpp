#include "verify/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "verify/proof.hpp"

namespace quadrille::verify {

namespace {

constexpr Rank full_matrix = 64;

BlockSizes sizes_of(const Case& one) {
  const std::int64_t count = one.problem.count;
  if (!one.uneven) return [count](Rank, Rank) { return count; };
  return [count](Rank from, Rank to) {
    const std::uint64_t mixed =
        (static_cast<std::uint64_t>(from) * 31 + static_cast<std::uint64_t>(to) * 17 + 5) * 2654435761U;
    return mixed % 3 == 0 ? 0 : static_cast<std::int64_t>((mixed >> 8U) % static_cast<std::uint64_t>(count + 1));
  };
}

std::set<std::int64_t> counts(const Traits& of, Rank ranks) {
  if (!of.moves_data) return {0};
  if (ranks > full_matrix) return {of.block_for_each_peer ? 2 : std::int64_t{ranks} + 5};
  if (of.block_for_each_peer) return {0, 1, 5};
  return {0, 1, ranks - 1, ranks, ranks + 1, 3 * std::int64_t{ranks} + 37};
}

std::set<Rank> roots(const Traits& of, Rank ranks) {
  if (!of.rooted) return {0};
  if (ranks > full_matrix) return {ranks / 3};
  return {0, std::min(1, ranks - 1), ranks / 2, ranks - 1};
}

std::string disagreement(const Prediction& predicted, const Verdict& verdict) {
  if (predicted == Prediction{verdict.steps, verdict.messages, verdict.units}) return {};
  return fmt::format("predicted {} steps, {} messages, {} units; there are {}, {}, {}", predicted.steps,
                     predicted.messages, predicted.units, verdict.steps, verdict.messages, verdict.units);
}

}  // namespace

std::vector<Case> cases(const Algorithm& algorithm, Rank ranks) {
  const Traits of = traits(algorithm.collective);
  const bool small = ranks <= full_matrix;
  std::vector<Case> all;
  for (int variety = 0; variety < 16; ++variety) {
    const bool in_place = (variety & 1) != 0;
    const bool commutative = (variety & 2) == 0;
    const bool cut = (variety & 4) != 0;
    const bool uneven = (variety & 8) != 0;
    const bool once_is_enough = !small && of.block_for_each_peer && !uneven;
    const bool meaningless = once_is_enough || (!commutative && !of.reduces) || (cut && !algorithm.segmented) ||
                             (uneven && !of.block_for_each_peer);
    if (meaningless) continue;
    for (std::int64_t count : counts(of, ranks)) {
      for (Rank root : roots(of, ranks)) {
        Case one{.algorithm = &algorithm, .problem = {}};
        one.problem.ranks = ranks;
        one.problem.root = root;
        one.problem.count = count;
        one.problem.in_place = in_place;
        one.problem.commutative = commutative;
        one.problem.segment = cut ? 7 : 0;
        one.uneven = uneven;
        one.replayed = small;
        one.seed = all.size() + 1 + static_cast<std::uint64_t>(ranks) * 1000;
        one.types = one.seed % 2 == 0 ? replay::Types::gaps : replay::Types::contiguous;
        if (refusal(algorithm, one.problem).empty()) all.push_back(one);
      }
    }
  }
  return all;
}

std::string check(const Case& one) {
  const Verdict verdict = prove(subject_of(*one.algorithm, one.problem, sizes_of(one)));
  if (!verdict.proved()) return verdict.fault;
  const std::int64_t least = traits(one.algorithm->collective).block_for_each_peer ? 1 : one.problem.ranks;
  const bool predictable = !one.uneven && (one.problem.count >= least || !traits(one.algorithm->collective).moves_data);
  if (predictable) {
    if (std::string why = disagreement(one.algorithm->predict(one.problem), verdict); !why.empty()) return why;
  }
  if (!one.replayed) return {};
  replay::Trial trial = replay::trial_of(*one.algorithm, one.problem, sizes_of(one));
  trial.types = one.types;
  trial.options.seed = one.seed;
  trial.options.window = static_cast<std::int64_t>(1 + one.seed % static_cast<std::uint64_t>(one.problem.ranks + 2));
  trial.options.sends = static_cast<replay::Sends>(one.seed % 3);
  const std::string why = replay::run(trial);
  return why.empty() ? why : "replay: " + why;
}

std::string describe(const Case& one) {
  const Problem& problem = one.problem;
  std::string text = fmt::format("{} {}, {} ranks, count {}", name(one.algorithm->collective), one.algorithm->name,
                                 problem.ranks, problem.count);
  if (traits(one.algorithm->collective).rooted) text += fmt::format(", root {}", problem.root);
  if (problem.segment > 0) text += fmt::format(", segments of {}", problem.segment);
  if (problem.in_place) text += ", in place";
  if (!problem.commutative) text += ", not commutative";
  if (one.uneven) text += ", uneven blocks";
  if (one.types == replay::Types::gaps) text += ", types with gaps";
  return text + fmt::format(", seed {}", one.seed);
}

}  // namespace quadrille::verify
