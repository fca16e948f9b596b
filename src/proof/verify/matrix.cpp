#include "verify/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "verify/proof.hpp"

namespace quadrille::verify {

namespace {

constexpr Rank full_matrix = 64;
constexpr Rank every_machine = 12;  // up to so many ranks

// Various sizes, some of them 0.
std::int64_t some_size(Rank from, Rank to, std::int64_t most) {
  const std::uint64_t mixed =
      (static_cast<std::uint64_t>(from) * 31 + static_cast<std::uint64_t>(to) * 17 + 5) * 2654435761U;
  return mixed % 3 == 0 ? 0 : static_cast<std::int64_t>((mixed >> 8U) % static_cast<std::uint64_t>(most + 1));
}

// In place, two ranks swap blocks of equal size.
BlockSizes sizes_of(const Case& one) {
  const std::int64_t count = one.problem.count;
  if (!one.uneven) return [count](Rank, Rank) { return count; };
  return [count, in_place = one.problem.in_place](Rank from, Rank to) {
    return in_place ? some_size(std::min(from, to), std::max(from, to), count) : some_size(from, to, count);
  };
}

std::shared_ptr<const Shares> shares_of(const Case& one) {
  std::vector<std::int64_t> counts;
  for (Rank rank = 0; rank < one.problem.ranks; ++rank) {
    counts.push_back(one.uneven ? some_size(rank, 0, one.problem.count) : one.problem.count);
  }
  return std::make_shared<const Shares>(counts);
}

std::set<std::int64_t> counts(const Traits& of, Rank ranks) {
  if (!of.moves_data()) return {0};
  if (ranks > full_matrix) return {of.in_blocks() ? 2 : std::int64_t{ranks} + 5};
  if (of.in_blocks()) return {0, 1, 5, 19};
  return {0, 1, ranks - 1, ranks, ranks + 1, 3 * std::int64_t{ranks} + 37};
}

std::set<Rank> roots(const Traits& of, Rank ranks) {
  if (!of.rooted) return {0};
  if (ranks > full_matrix) return {ranks / 3};
  return {0, std::min(1, ranks - 1), ranks / 2, ranks - 1};
}

std::set<std::int32_t> widths(const Algorithm& algorithm, Rank ranks) {
  if (algorithm.width == 0 || ranks > full_matrix) return {0};
  // The steps are predicted only for one swap at a time.
  if (algorithm.width == 1) return {0, 2, 4};
  return {2, 3, 4, 8};
}

// The flags of a problem.
struct ProblemVariant {
  bool in_place, commutative, fixed_order, cut, uneven;
};

std::vector<ProblemVariant> problem_variants(const Algorithm& algorithm, Rank ranks) {
  const Traits of = traits(algorithm.collective);
  const bool may_be_uneven = of.separate_blocks || of.counts_differ;
  std::vector<ProblemVariant> all;
  for (unsigned bits = 0; bits < 32; ++bits) {
    const auto bit = [bits](unsigned which) { return (bits >> which & 1U) != 0; };
    const ProblemVariant one{bit(0), !bit(1), bit(2), bit(3), bit(4)};
    const bool reduction_only = !one.commutative || one.fixed_order;
    // Above the full matrix only the most general variant.
    const bool once_is_enough =
        ranks > full_matrix && ((may_be_uneven && !one.uneven) || (algorithm.segmented && !one.cut) ||
                                (algorithm.fixed_order && !one.commutative && !one.fixed_order));
    const bool meaningless = once_is_enough || (reduction_only && !of.reduces) ||
                             (one.fixed_order && one.commutative) || (one.cut && !algorithm.segmented) ||
                             (one.uneven && !may_be_uneven);
    if (!meaningless) all.push_back(one);
  }
  return all;
}

// The machine of a hierarchical algorithm, and how windows are used; empty for all others.
struct Machine {
  std::shared_ptr<const Topology> topology;
  std::int64_t room = 0;
  // Of windows.
  bool pulls = false;
  std::int64_t box = 0;
  std::int64_t staging = 0;
};

// Nodes of equal and different sizes, block and cyclic placement, racks; shared memory for all data, for a few units,
// none.
std::vector<Machine> without_windows(const Algorithm& algorithm, Rank ranks) {
  if (!algorithm.hierarchical) return {{}};
  constexpr std::int64_t plenty = 1 << 20;
  const auto named = [&](const auto&... name_of) {
    std::vector<std::vector<std::int32_t>> names;
    const auto add = [&](const auto& name) {
      names.emplace_back();
      for (Rank rank = 0; rank < ranks; ++rank) names.back().push_back(name(rank));
    };
    (add(name_of), ...);
    return std::make_shared<const Topology>(ranks, names);
  };
  const auto uneven = named([](Rank rank) { return rank < 3 ? rank / 2 : (rank + 2) / 5 + 7; });
  const auto in_turn = named([](Rank rank) { return rank % 3; });
  const auto racks = named([](Rank rank) { return rank / 6; }, [](Rank rank) { return rank / 2; });
  const auto sites = named([](Rank rank) { return rank / 12; }, [](Rank rank) { return rank / 4; },
                           [](Rank rank) { return rank / 3; });
  // Many ranks with little shared memory need many operations.
  const std::int64_t little = ranks <= every_machine ? 9 : 3 * std::int64_t{ranks};
  const auto fours = named([](Rank rank) { return rank / 4; });
  // Swaps use messages only.
  if (algorithm.swaps) return {{nullptr, 0}, {fours, 0}, {uneven, 0}, {in_turn, 0}, {racks, 0}};
  return {{nullptr, plenty}, {nullptr, little}, {fours, plenty},        {fours, 24}, {fours, 120},
          {fours, 0},        {uneven, 16},      {in_turn, little + 31}, {racks, 24}, {racks, 0},
          {sites, 30},       {in_turn, 0},      {sites, plenty}};
}

// Through windows, each of them with every way to transfer data.
std::vector<Machine> machines(const Algorithm& algorithm, Rank ranks) {
  std::vector<Machine> all;
  for (const Machine& machine : without_windows(algorithm, ranks)) {
    all.push_back(machine);
    if (!algorithm.restrictions.exposed) continue;
    all.push_back({.topology = machine.topology, .room = machine.room, .pulls = true});
    all.push_back({.topology = machine.topology, .room = machine.room, .box = 64, .staging = 64});
  }
  return all;
}

std::string disagreement(const std::optional<Prediction>& predicted, const ProofResult& verdict) {
  if (!predicted) return {};
  const std::int64_t steps = predicted->steps == Prediction::unknown_steps ? Prediction::unknown_steps : verdict.steps;
  if (predicted == Prediction{steps, verdict.messages, verdict.units}) return {};
  return fmt::format("predicted {} steps, {} messages, {} units, but found {}, {}, {}", predicted->steps,
                     predicted->messages, predicted->units, verdict.steps, verdict.messages, verdict.units);
}

// The same case with the strictest operand order that the algorithm supports.
std::optional<Problem> stricter(const Algorithm& algorithm, const Problem& problem) {
  Problem strict = problem;
  strict.commutative = false;
  strict.fixed_order = algorithm.fixed_order;
  const bool same = strict.commutative == problem.commutative && strict.fixed_order == problem.fixed_order;
  if (same || !traits(algorithm.collective).reduces || !refusal(algorithm, strict).empty()) return std::nullopt;
  return strict;
}

// Whether the problem's requirements and its schedules on all ranks equal those of a stricter case, whose proof then
// covers both.
bool proved_by_stricter(const Algorithm& algorithm, const Problem& problem, const std::vector<Schedule>& schedules) {
  std::optional<Problem> strict = stricter(algorithm, problem);
  if (!strict || predict(algorithm, problem) != predict(algorithm, *strict)) return false;
  if (scratch_units(algorithm, problem) != scratch_units(algorithm, *strict)) return false;
  for (strict->rank = 0; strict->rank < problem.ranks; ++strict->rank) {
    const Schedule schedule = build(algorithm, problem_of(algorithm.collective, *strict));
    if (schedule != schedules[static_cast<std::size_t>(strict->rank)]) return false;
  }
  return true;
}

// Proves the case and compares the algorithm's prediction with its schedules. Returns the error.
std::string prove(const Case& one, const Subject& subject) {
  if (proved_by_stricter(*one.algorithm, one.problem, subject.schedules)) return {};
  const ProofResult verdict = prove(subject);
  if (!verdict.proved()) return verdict.fault;
  const Traits of = traits(one.algorithm->collective);
  const std::int64_t least = of.in_blocks() ? 1 : one.problem.ranks;
  const bool predictable = !one.uneven && (one.problem.count >= least || !of.moves_data());
  return predictable ? disagreement(predict(*one.algorithm, one.problem), verdict) : std::string();
}

std::string described(const std::shared_ptr<const Topology>& machine) {
  if (!machine) return "one node";
  std::string text = "nodes of";
  for (Rank first : machine->first_of_domains(machine->levels() - 1)) {
    text += fmt::format(" {}", machine->domain(machine->levels() - 1, first).size());
  }
  return text + fmt::format(" ranks in {} levels", machine->levels());
}

}  // namespace

std::vector<Case> cases(const Algorithm& algorithm, Rank ranks) {
  const Traits of = traits(algorithm.collective);
  std::vector<Case> all;
  std::size_t next = 0;
  const std::vector<Machine> known = machines(algorithm, ranks);
  const auto add = [&](const ProblemVariant& variant, std::int64_t count, Rank root, std::int32_t width) {
    Case one{.algorithm = &algorithm, .problem = {}};
    one.problem.ranks = ranks;
    one.problem.root = root;
    one.problem.count = count;
    one.problem.in_place = variant.in_place;
    one.problem.commutative = variant.commutative;
    one.problem.fixed_order = variant.fixed_order;
    one.problem.segment = variant.cut ? 7 : 0;
    one.problem.width = width;
    one.uneven = variant.uneven;
    one.replayed = ranks <= full_matrix;
    one.seed = all.size() + 1 + static_cast<std::uint64_t>(ranks) * 1000;
    one.types = one.seed % 2 == 0 ? replay::Types::gaps : replay::Types::contiguous;
    if (of.counts_differ) one.shares = shares_of(one);
    one.problem.shares = one.shares.get();
    // All machines for few ranks, one in turn for many, if the algorithm is applicable there.
    std::size_t wanted = ranks <= every_machine ? known.size() : 1;
    for (std::size_t i = 0; i < known.size() && wanted > 0; ++i) {
      const Machine& machine = known[(next++) % known.size()];
      one.seed = all.size() + 1 + static_cast<std::uint64_t>(ranks) * 1000;
      one.types = one.seed % 2 == 0 ? replay::Types::gaps : replay::Types::contiguous;
      one.machine = machine.topology;
      one.problem.topology = machine.topology.get();
      one.problem.room = machine.room;
      one.problem.offloads = true;
      one.problem.unit_bytes = one.seed % 3 == 0 ? 64 : 8;
      one.problem.crowded = one.seed % 5 == 0;
      one.problem.exposed = algorithm.restrictions.exposed;
      one.problem.pulls = machine.pulls;
      one.problem.box = machine.box;
      one.problem.staging = machine.staging;
      if (!refusal(algorithm, one.problem).empty()) continue;
      all.push_back(one);
      --wanted;
    }
  };
  for (const ProblemVariant& variant : problem_variants(algorithm, ranks)) {
    for (std::int64_t count : counts(of, ranks)) {
      for (Rank root : roots(of, ranks)) {
        for (std::int32_t width : widths(algorithm, ranks)) add(variant, count, root, width);
      }
    }
  }
  return all;
}

std::string check(const Case& one) {
  Subject subject = subject_of(*one.algorithm, one.problem, sizes_of(one));
  if (std::string why = prove(one, subject); !why.empty()) return why;
  if (!one.replayed) return {};
  replay::Trial trial = replay::trial_of(*one.algorithm, one.problem, sizes_of(one));
  trial.build = [&](const Problem& own) { return std::move(subject.schedules[static_cast<std::size_t>(own.rank)]); };
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
  if (problem.width > 0) text += fmt::format(", width {}", problem.width);
  if (problem.in_place) text += ", in place";
  if (!problem.commutative) text += problem.fixed_order ? ", in rank order" : ", not commutative";
  if (one.uneven) text += ", uneven blocks";
  if (one.algorithm->hierarchical) text += fmt::format(", {}, room {}", described(one.machine), problem.room);
  if (problem.crowded) text += ", crowded";
  if (problem.pulls) text += ", pulled";
  if (problem.box > 0) text += fmt::format(", boxes of {}", problem.box);
  if (problem.staging > 0) text += fmt::format(", staging of {}", problem.staging);
  if (one.types == replay::Types::gaps) text += ", types with gaps";
  return text + fmt::format(", seed {}", one.seed);
}

}  // namespace quadrille::verify
