#include "select/requirements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "select/budget.hpp"
#include "topology/topology.hpp"

namespace quadrille {

namespace {

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

std::int64_t Requirements::room(const Case& asked) const {
  constexpr std::int64_t lost_by_rounding = 16;  // of each slot
  if (asked.unit_extent <= 0) return 0;
  return std::max<std::int64_t>(0, ground_.slot_bytes - most_slots * lost_by_rounding) / asked.unit_extent;
}

// The MPI has to know the operation.
bool Requirements::offloads(const Case& asked) const {
  return ground_.offloads && (!traits(asked.collective).reduces || asked.operation >= 0);
}

// An algorithm that does not cut its data must not be cached once for each segment size. Chunks of data that is swapped
// in place are each rank's own affair.
Variant Requirements::completed(Variant variant, const Case& asked) const {
  const std::int64_t wanted = variant.segment > 0 ? variant.segment : segment_;
  variant.segment = variant.algorithm().segmented ? Budget(asked.memory).segment(wanted) : 0;
  return variant;
}

std::string Requirements::refusal(const Variant& variant, const Case& asked) const {
  if (ground_.checked && variant.algorithm().restrictions.trusts_lengths) {
    return fmt::format("{} trusts the lengths of blocks, which checked mode does not", name_of(variant));
  }
  return quadrille::refusal(variant.algorithm(), {.ranks = asked.ranks,
                                                  .in_place = asked.in_place,
                                                  .commutative = asked.commutative,
                                                  .fixed_order = asked.fixed_order,
                                                  .width = variant.width,
                                                  .topology = ground_.topology,
                                                  .room = variant.algorithm().hierarchical ? room(asked) : 0,
                                                  .offloads = offloads(asked)});
}

Problem Requirements::problem(const Variant& completed, const Case& asked) const {
  const Traits& of = traits(asked.collective);
  const bool count_of_all = of.counts_differ || asked.collective == Collective::allgatherv;
  const std::int64_t unit = of.reduces ? std::max<std::int64_t>(1, asked.unit_bytes) : 1;
  Problem problem{.rank = asked.root,
                  .ranks = asked.ranks,
                  .root = asked.root,
                  .count = count_of_all ? asked.count / asked.ranks : asked.count,
                  .commutative = asked.commutative,
                  .fixed_order = asked.fixed_order,
                  .segment = completed.segment == 0 ? 0 : std::max<std::int64_t>(1, completed.segment / unit),
                  .width = completed.width,
                  .topology = ground_.topology,
                  .room = completed.algorithm().hierarchical ? room(asked) : 0,
                  .unit_bytes = unit,
                  .crowded = ground_.crowded,
                  .offloads = offloads(asked)};
  if (swaps(completed, asked)) {
    const Chunking cut = chunking(asked);
    problem.in_place = true;
    problem.segment = cut.chunk;
    problem.window = cut.window;
    problem.width = completed.width > 0 ? std::min(completed.width, cut.partners) : cut.partners;
  }
  return problem;
}

// Chunks are the same on all ranks, lengths of blocks, too.
Chunking Requirements::chunking(const Case& asked) const {
  return Budget(asked.memory)
      .chunking({.ranks = asked.ranks, .packed_anywhere = true, .spare = true, .longest = part_});
}

std::int64_t Requirements::memory(const Variant& completed, const Case& asked) const {
  const Budget budget(asked.memory);
  if (!budget.limited()) return 0;
  if (swaps(completed, asked)) {
    // They are cut so that they fit, if they can be.
    return chunking(asked).chunk > 0 ? asked.memory : std::max(asked.memory + 1, Budget::least_to_swap);
  }
  const Algorithm& algorithm = completed.algorithm();
  const Traits of = traits(algorithm.collective);
  std::optional<Shares> shares;
  if (of.counts_differ) shares = shares_like(asked);
  Problem problem = this->problem(completed, asked);
  problem.count = of.separate_blocks ? 0 : asked.count;
  problem.shares = shares ? &*shares : nullptr;
  // Whether it is in place is for each rank to say, or for the root alone.
  std::int64_t units = scratch_units(algorithm, problem);
  problem.in_place = true;
  if (of.may_be_in_place) units = std::max(units, scratch_units(algorithm, problem));
  return budget.needed(units * (of.reduces ? asked.unit_extent : 1), part_);
}

}  // namespace quadrille
