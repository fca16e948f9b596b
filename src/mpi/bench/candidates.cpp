#include "bench/candidates.hpp"

#include <algorithm>
#include <string_view>

#include "algorithms/catalogue.hpp"
#include "measure/report.hpp"

namespace quadrille::bench {

namespace {

void set_prices(std::vector<Candidate>& candidates, const Exercise& exercise, const Selector& selector) {
  const Case asked = case_of_bytes(exercise.collective(), exercise.bytes(), selector.placement());
  Prices* const prices = selector.prices();
  if (!prices || asked.ranks == 1 || !sizes_are_known(asked.collective)) return;
  for (Candidate& one : candidates) {
    if (!one.ours) {
      if (one.delay == 0) one.price = prices->ranking(asked).native;
      continue;
    }
    const Request named{.variant = variant_named(asked.collective, one.algorithm)};
    const Variant variant = selector.decide(asked, one.algorithm.empty() ? Request{} : named).variant;
    if (variant && selector.requirements().can_run(variant, asked)) one.price = prices->price(variant, asked);
  }
}

}  // namespace

std::vector<Candidate> candidates_of(const measure::BenchOptions& options, const Exercise& exercise,
                                     const engine::Context& measured) {
  const Collective collective = exercise.collective();
  const std::int64_t segment = measured.settings().preferences.segment;
  std::vector<Candidate> all = {{.name = std::string(measure::native)}};
  if (options.control) all.push_back({.name = std::string(measure::control)});
  if (options.delay > 0) all.push_back({.name = std::string(measure::delayed), .delay = options.delay});
  const auto add = [&](std::string_view name) {
    const Variant choice = variant_named(collective, name);
    const bool known = std::any_of(all.begin(), all.end(), [&](const Candidate& one) { return one.name == name; });
    if (!choice || choice.width < 0 || known) return;
    const Problem problem = exercise.problem(choice, segment);
    all.push_back({.name = std::string(name), .ours = true, .algorithm = std::string(name)});
    if (!refusal(choice.algorithm(), problem).empty()) return;
    const auto predicted = predict(choice.algorithm(), problem);
    if (predicted && predicted->steps != Prediction::unknown_steps) all.back().steps = predicted->steps;
  };
  for (const std::string& name : options.algorithms) {
    if (name == "default") {
      all.push_back({.name = name, .ours = true});
    } else if (name == "all") {
      for (const Algorithm* one : catalogue()) {
        // Its data does not lie in windows.
        if (one->collective == collective && one->offered && !one->restrictions.exposed) add(one->name);
      }
    } else {
      add(name);
    }
  }
  set_prices(all, exercise, measured.selector());
  return all;
}

std::vector<std::string> twins_of(const std::vector<Candidate>& candidates, const Exercise& exercise, Buffers& buffers,
                                  std::span<const std::int32_t> roots, engine::Context& measured,
                                  Communicator& control) {
  const std::size_t looked_at = std::min<std::size_t>(candidates.size(), 64);
  const auto bit = [](std::size_t i) { return std::uint64_t{1} << i; };
  std::vector<std::uint64_t> equal(looked_at, ~std::uint64_t{0});  // of each those that are the same here
  for (const std::int32_t root : roots) {
    const Buffers::Pair pair = buffers.next();
    std::vector<std::optional<Schedule>> schedules(looked_at);
    for (std::size_t i = 0; i < looked_at; ++i) {
      if (!candidates[i].ours) continue;
      schedules[i] = exercise.schedule(pair.input, pair.output, root, measured, candidates[i].algorithm);
    }
    for (std::size_t i = 0; i < looked_at; ++i) {
      for (std::size_t j = 0; j < looked_at; ++j) {
        if (i != j && (!schedules[i] || schedules[i] != schedules[j])) equal[i] &= ~bit(j);
      }
    }
  }
  std::vector<std::uint64_t> everywhere(looked_at);
  control.allreduce(equal.data(), everywhere.data(), static_cast<int>(looked_at), MPI_UINT64_T, MPI_BAND);
  std::vector<std::string> same_as(candidates.size());
  for (std::size_t i = 0; i < looked_at; ++i) {
    std::size_t first = i;
    for (std::size_t j = 0; j < looked_at; ++j) {
      const bool preferred = !candidates[j].algorithm.empty() && (j < first || candidates[first].algorithm.empty());
      if ((everywhere[i] & bit(j)) != 0 && preferred) first = j;
    }
    if (first != i) same_as[i] = candidates[first].name;
  }
  return same_as;
}

}  // namespace quadrille::bench
