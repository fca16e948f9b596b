#include "select/selector.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "cost/price.hpp"
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

// Scratch depends on the sum of the shares and on the largest of them alone: any shares with these will do.
Shares shares_like(const Case& asked) {
  std::vector<std::int64_t> counts;
  std::int64_t left = asked.count;
  for (Rank rank = 0; rank < asked.ranks; ++rank) {
    counts.push_back(std::min(left, asked.largest));
    left -= counts.back();
  }
  return Shares(counts);
}

bool swaps(const Variant& variant, const Case& asked) {
  return variant.algorithm().swaps && asked.in_place;
}

}  // namespace

Selector::Selector(const Preferences& preferences, std::span<const PlacedRule> rules, Rank ranks,
                   const Topology& topology, std::int64_t slot_bytes)
    : preferences_(preferences),
      placement_(placement_of(ranks, topology)),
      topology_(&topology),
      slot_bytes_(slot_bytes) {
  guide_ = Guide(rules, ranks, placement_.nodes);
}

std::int64_t Selector::room(const Case& asked) const {
  constexpr std::int64_t lost_by_rounding = 16;  // of each slot
  if (asked.unit_extent <= 0) return 0;
  return std::max<std::int64_t>(0, slot_bytes_ - most_slots * lost_by_rounding) / asked.unit_extent;
}

// An algorithm that does not cut its data must not be cached once for each segment size. Chunks of data that is swapped
// in place are each rank's own affair.
Variant Selector::completed(Variant variant, const Case& asked) const {
  const std::int64_t wanted = variant.segment > 0 ? variant.segment : preferences_.segment;
  variant.segment = variant.algorithm().segmented ? Budget(asked.memory).segment(wanted) : 0;
  return variant;
}

bool Selector::can_run(const Variant& variant, const Case& asked) const {
  return refusal(variant.algorithm(), {.ranks = asked.ranks,
                                       .in_place = asked.in_place,
                                       .commutative = asked.commutative,
                                       .fixed_order = asked.fixed_order,
                                       .width = variant.width,
                                       .topology = topology_})
      .empty();
}

// The most that any rank may take; 0 where nothing is limited.
std::int64_t Selector::needed(const Variant& variant, const Case& asked) const {
  const Budget budget(asked.memory);
  if (!budget.limited()) return 0;
  if (swaps(variant, asked)) {
    // They are cut so that they fit, if they can be. Chunks are the same on all ranks, lengths of blocks, too.
    const Chunking chunking =
        budget.chunking({.ranks = asked.ranks, .packed_anywhere = true, .spare = true, .longest = preferences_.part});
    return chunking.chunk > 0 ? asked.memory : std::max(asked.memory + 1, Budget::least_to_swap);
  }
  const Algorithm& algorithm = variant.algorithm();
  const Traits of = traits(algorithm.collective);
  std::optional<Shares> shares;
  if (of.counts_differ) shares = shares_like(asked);
  Problem problem{.rank = asked.root,
                  .ranks = asked.ranks,
                  .root = asked.root,
                  .count = of.separate_blocks ? 0 : asked.count,
                  .shares = shares ? &*shares : nullptr,
                  .commutative = asked.commutative,
                  .fixed_order = asked.fixed_order,
                  .segment = std::max<std::int64_t>(1, variant.segment / std::max<std::int64_t>(1, asked.unit_bytes)),
                  .width = variant.width,
                  .topology = topology_,
                  .room = algorithm.hierarchical ? room(asked) : 0};
  if (variant.segment == 0) problem.segment = 0;
  // Whether it is in place is for each rank to say, or for the root alone.
  std::int64_t units = scratch_units(algorithm, problem);
  problem.in_place = true;
  if (of.may_be_in_place) units = std::max(units, scratch_units(algorithm, problem));
  return budget.needed(units * (of.reduces ? asked.unit_extent : 1), preferences_.part);
}

void Selector::settle(Decision& decision, Variant variant, const Reason& reason, const Case& asked) const {
  decision.variant = completed(variant, asked);
  decision.needed = needed(decision.variant, asked);
  decision.fits = decision.needed <= asked.memory || asked.memory == 0;
  Reason last = reason;
  last.variant = variant;
  decision.add(last);
}

// Settles for it if it can run the case within the memory limit; else notes why not.
bool Selector::consider(Variant variant, Reason reason, const Case& asked, Decision& decision) const {
  if (!can_run(variant, asked)) {
    decision.add({.kind = Reason::Kind::restricted, .variant = variant});
    return false;
  }
  const std::int64_t bytes = needed(completed(variant, asked), asked);
  if (bytes > asked.memory) {
    decision.add({.kind = Reason::Kind::memory, .variant = variant, .first = bytes, .second = asked.memory});
    return false;
  }
  settle(decision, variant, reason, asked);
  return true;
}

void Selector::set_model(const cost::Model& model) {
  model_ = model;
  map_ = std::make_shared<cost::Map>(*topology_);
}

double Selector::price(const Variant& variant, const Case& asked) const {
  const Algorithm& algorithm = variant.algorithm();
  const Traits& of = traits(asked.collective);
  const bool total = of.counts_differ || asked.collective == Collective::allgatherv;
  const std::int64_t unit = of.reduces ? std::max<std::int64_t>(1, asked.unit_bytes) : 1;
  return cost::price(algorithm,
                     {.rank = asked.root,
                      .ranks = asked.ranks,
                      .root = asked.root,
                      .count = total ? asked.count / asked.ranks : asked.count,
                      .commutative = asked.commutative,
                      .fixed_order = asked.fixed_order,
                      .segment = variant.segment == 0 ? 0 : std::max<std::int64_t>(1, variant.segment / unit),
                      .width = variant.width,
                      .topology = topology_,
                      .room = algorithm.hierarchical ? room(asked) : 0},
                     static_cast<double>(unit), *map_, *model_);
}

// The one that takes the least time, of those that can run the case within the memory limit. A few sizes of segments
// are tried, with the default widths.
bool Selector::decide_by_price(const Case& asked, Decision& decision) const {
  struct Candidate {
    Variant variant;
    double price;
  };
  std::vector<Candidate> candidates;
  const auto add = [&](Variant variant) {
    if (can_run(variant, asked)) candidates.push_back({variant, price(completed(variant, asked), asked)});
  };
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective != asked.collective) continue;
    const Variant usual = variant_of(*algorithm);
    add(usual);
    for (const std::int64_t segment : {preferences_.segment / 4, 4 * preferences_.segment}) {
      Variant other = usual;
      other.segment = segment;
      if (algorithm->segmented && segment > 0 && segment < asked.count_bytes()) add(other);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.price < b.price; });
  const auto nanoseconds = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double next = candidates[std::min(i + 1, candidates.size() - 1)].price;
    const Reason reason{
        .kind = Reason::Kind::price, .first = nanoseconds(candidates[i].price), .second = nanoseconds(next)};
    if (consider(candidates[i].variant, reason, asked, decision)) return true;
  }
  return false;
}

Decision Selector::decide(const Case& asked, const Request& request) const {
  Decision decision;
  // What the caller asks for by name is not replaced: where it can't run, the call is refused.
  if (request.variant) {
    settle(decision, request.variant, {.kind = Reason::Kind::requested}, asked);
    return decision;
  }
  const Rule* rule = sizes_are_known(asked.collective) ? guide_.find(asked.collective, asked.bytes()) : nullptr;
  if (request.native == Request::Native::without_rule && !rule) {
    decision.add({.kind = Reason::Kind::no_rule, .first = asked.bytes()});
    return decision;
  }
  const bool only_rule = request.native == Request::Native::without_rule;
  if (only_rule && !can_run(rule->variant, asked)) {
    decision.add({.kind = Reason::Kind::restricted, .variant = rule->variant});
    return decision;
  }
  const Variant& set = preferences_.variant(asked.collective);
  if (set && consider(set, {.kind = Reason::Kind::environment}, asked, decision)) return decision;
  if (rule) {
    const Reason holds{.kind = Reason::Kind::rule, .first = rule->from, .second = rule->to};
    if (consider(rule->variant, holds, asked, decision) || only_rule) return decision;
  }
  const bool priced = model_ && asked.ranks > 1 && sizes_are_known(asked.collective) && !asked.in_place;
  if (priced && decide_by_price(asked, decision)) return decision;
  const Variant usual = variant_of(usual_algorithm(asked, preferences_.segment));
  if (consider(usual, {.kind = Reason::Kind::usual}, asked, decision)) return decision;
  for (const Algorithm* other : catalogue()) {
    if (other->collective != asked.collective) continue;
    const Variant variant = variant_of(*other);
    if (can_run(variant, asked) && needed(completed(variant, asked), asked) <= asked.memory) {
      settle(decision, variant, {.kind = Reason::Kind::first_fitting}, asked);
      return decision;
    }
  }
  // None keeps to the limit: the call is refused, with what the usual one would take.
  if (request.native == Request::Native::never) settle(decision, usual, {.kind = Reason::Kind::usual}, asked);
  return decision;
}

}  // namespace quadrille
