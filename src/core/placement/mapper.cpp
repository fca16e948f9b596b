#include "placement/mapper.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace quadrille::placement {

namespace {

// The slots of fixed ranks are theirs; whoever was there takes theirs.
Placement with_fixed(const Mapping& mapping, Placement placement) {
  if (mapping.fixed.empty()) return placement;
  std::vector<Rank> on(static_cast<std::size_t>(mapping.ground.slots()), -1);
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    on[index(placement[rank])] = static_cast<Rank>(rank);
  }
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    const std::int32_t slot = mapping.fixed[rank];
    if (slot < 0 || slot == placement[rank]) continue;
    const Rank there = on[index(slot)];
    on[index(placement[rank])] = there;
    if (there >= 0) placement[index(there)] = placement[rank];
    on[index(slot)] = static_cast<Rank>(rank);
    placement[rank] = slot;
  }
  return placement;
}

void check(const Mapping& mapping) {
  const auto ranks = index(mapping.ranks());
  if (mapping.ground.node_of.size() < ranks) throw std::invalid_argument("there are fewer slots than ranks");
  if (!mapping.given.empty() && mapping.given.size() != ranks) {
    throw std::invalid_argument("the given placement is of another number of ranks");
  }
  if (mapping.fixed.empty()) return;
  if (mapping.fixed.size() != ranks) throw std::invalid_argument("fixed slots are of another number of ranks");
  std::vector<bool> taken(mapping.ground.node_of.size());
  for (const std::int32_t slot : mapping.fixed) {
    if (slot < 0) continue;
    if (slot >= mapping.ground.slots()) throw std::invalid_argument("a rank is fixed to a slot that does not exist");
    if (taken[index(slot)]) throw std::invalid_argument("two ranks are fixed to one slot");
    taken[index(slot)] = true;
  }
}

}  // namespace

std::vector<Candidate> candidates(const Mapping& mapping) {
  check(mapping);
  if (mapping.ranks() == 0) return {};
  std::vector<Candidate> all;
  const auto add = [&](std::string_view method, Placement placement) {
    const double seconds = Load(mapping.phases, mapping.ground, placement).seconds();
    all.push_back({method, std::move(placement), seconds});
  };
  const Ground& ground = mapping.ground;
  if (!mapping.given.empty()) add("given", mapping.given);
  add("block", with_fixed(mapping, ground.block(mapping.ranks())));
  add("cyclic", with_fixed(mapping, ground.cyclic(mapping.ranks())));
  add("greedy", greedy(mapping));
  if (std::optional<Placement> divided = by_scotch(mapping)) add("scotch", std::move(*divided));

  // The better of two starts often leads to the better end, but not always.
  std::vector<std::size_t> starts(all.size());
  std::iota(starts.begin(), starts.end(), std::size_t{0});
  std::stable_sort(starts.begin(), starts.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].seconds < all[b].seconds; });
  starts.resize(2);
  for (const std::size_t start : starts) {
    add("refined", refined(mapping, with_fixed(mapping, all[start].placement), mapping.effort / 2));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  return all;
}

}  // namespace quadrille::placement
