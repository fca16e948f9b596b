#include "select/selector.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "select/budget.hpp"
#include "select/rules_of_thumb.hpp"
#include "topology/topology.hpp"

namespace quadrille {

static_assert(std::is_trivially_copyable_v<Case> && std::is_trivially_copyable_v<Variant> &&
              std::is_trivially_copyable_v<Budget> && std::is_trivially_copyable_v<Decision> &&
              std::is_trivially_copyable_v<Preferences> && std::is_trivially_copyable_v<PlacedRule>);

namespace {

Placement placement_of(Rank ranks, const Topology& topology) {
  const int nodes = topology.levels() - 1;
  return {.ranks = ranks, .nodes = topology.domains(nodes), .ranks_per_node = topology.largest_domain(nodes)};
}

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

}  // namespace

Selector::Selector(const Preferences& preferences, std::span<const PlacedRule> rules, Rank ranks,
                   const Requirements::Ground& ground)
    : preferences_(preferences),
      placement_(placement_of(ranks, *ground.topology)),
      requirements_(ground, preferences.part, preferences.segment) {
  guide_ = Guide(rules, ranks, placement_.nodes);
}

void Selector::settle(Decision& decision, Variant variant, const Reason& reason, const Case& asked) const {
  decision.variant = requirements_.completed(variant, asked);
  decision.needed = requirements_.memory(decision.variant, asked);
  decision.fits = decision.needed <= asked.memory || asked.memory == 0;
  Reason last = reason;
  last.variant = variant;
  decision.add(last);
}

// Settles for it if it can run the case within the memory limit; else notes why not.
bool Selector::consider(Variant variant, Reason reason, const Case& asked, Decision& decision) const {
  if (!requirements_.can_run(variant, asked)) {
    decision.add({.kind = Reason::Kind::restricted, .variant = variant});
    return false;
  }
  const std::int64_t bytes = requirements_.memory(requirements_.completed(variant, asked), asked);
  if (bytes > asked.memory) {
    decision.add({.kind = Reason::Kind::memory, .variant = variant, .first = bytes, .second = asked.memory});
    return false;
  }
  settle(decision, variant, reason, asked);
  return true;
}

void Selector::set_model(const cost::Model& model, NativePrice native) {
  prices_ = std::make_shared<Prices>(model, requirements_, preferences_.segment, std::move(native));
}

bool Selector::can_price(const Case& asked) const {
  return prices_ && asked.ranks > 1 && sizes_are_known(asked.collective);
}

// The one that takes the least time, of those that keep to the memory limit.
bool Selector::decide_by_price(const Case& asked, Decision& decision) const {
  const std::vector<Priced>& ranked = prices_->ranking(asked).variants;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const Priced& next = ranked[std::min(i + 1, ranked.size() - 1)];
    const Reason reason{
        .kind = Reason::Kind::price, .first = nanoseconds(ranked[i].seconds), .second = nanoseconds(next.seconds)};
    if (consider(ranked[i].variant, reason, asked, decision)) return true;
  }
  return false;
}

// A table that knows the collective was measured, and is right where it has no rule, too.
Decision Selector::decide_against_native(const Case& asked, const Rule* rule) const {
  constexpr double clearly = 1.15;  // times, by which prices are wrong
  Decision decision;
  Reason holds;
  Variant variant;
  if (rule) {
    holds = {.kind = Reason::Kind::rule, .first = rule->from, .second = rule->to};
    variant = rule->variant;
    if (!variant) {
      decision.add(holds);
      return decision;
    }
  } else if (guide_.knows(asked.collective) || !can_price(asked)) {
    decision.add({.kind = Reason::Kind::no_rule, .first = asked.bytes()});
    return decision;
  } else {
    const Prices::Ranking& ranking = prices_->ranking(asked);
    const auto fits = std::find_if(ranking.variants.begin(), ranking.variants.end(),
                                   [&](const Priced& one) { return requirements_.fits(one.variant, asked); });
    const double ours = fits == ranking.variants.end() ? ranking.native : fits->seconds;
    holds = {.first = nanoseconds(ours), .second = nanoseconds(ranking.native)};
    if (ours * clearly > ranking.native) {
      holds.kind = Reason::Kind::native_price;
      decision.add(holds);
      return decision;
    }
    holds.kind = Reason::Kind::faster;
    variant = fits->variant;
  }
  if (!requirements_.can_run(variant, asked)) {
    decision.add({.kind = Reason::Kind::restricted, .variant = variant});
    return decision;
  }
  const Variant& set = preferences_.variant(asked.collective);
  if (set && consider(set, {.kind = Reason::Kind::environment}, asked, decision)) return decision;
  consider(variant, holds, asked, decision);
  return decision;
}

Decision Selector::decide(const Case& asked, const Request& request) const {
  Decision decision;
  // What the caller asks for by name is not replaced: where it can't run, the call is refused.
  if (request.variant) {
    settle(decision, request.variant, {.kind = Reason::Kind::requested}, asked);
    return decision;
  }
  const Rule* rule = sizes_are_known(asked.collective) ? guide_.find(asked.collective, asked.bytes()) : nullptr;
  if (request.native == Request::Native::unless_faster) return decide_against_native(asked, rule);
  const Variant& set = preferences_.variant(asked.collective);
  if (set && consider(set, {.kind = Reason::Kind::environment}, asked, decision)) return decision;
  // Here the MPI's own can't run.
  if (rule && rule->variant) {
    const Reason holds{.kind = Reason::Kind::rule, .first = rule->from, .second = rule->to};
    if (consider(rule->variant, holds, asked, decision)) return decision;
  }
  if (can_price(asked) && decide_by_price(asked, decision)) return decision;
  const Variant usual = variant_of(usual_algorithm(asked, preferences_.segment));
  if (consider(usual, {.kind = Reason::Kind::usual}, asked, decision)) return decision;
  for (const Algorithm* other : catalogue()) {
    if (other->collective != asked.collective || !other->offered) continue;
    const Variant variant = variant_of(*other);
    if (requirements_.fits(variant, asked)) {
      settle(decision, variant, {.kind = Reason::Kind::first_fitting}, asked);
      return decision;
    }
  }
  // None keeps to the limit: the call is refused, with what the usual one would take.
  if (request.native == Request::Native::never) settle(decision, usual, {.kind = Reason::Kind::usual}, asked);
  return decision;
}

}  // namespace quadrille
