#include "placement/mapper.hpp"

#include <algorithm>
#include <numeric>
#include <span>
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

void judge(std::span<const Phase> phases, const Ground& ground, Candidate& one) {
  const Load load(phases, ground, one.placement);
  one.seconds = load.seconds();
  one.total = load.total();
}

// Times that differ by rounding alone are the same.
void sort(std::vector<Candidate>& all) {
  constexpr double rounding = 1e-9;
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  for (auto first = all.begin(); first != all.end();) {
    const auto end = std::find_if(first, all.end(),
                                  [&](const Candidate& one) { return one.seconds > first->seconds * (1 + rounding); });
    std::stable_sort(first, end, [](const Candidate& a, const Candidate& b) { return a.total < b.total; });
    first = end;
  }
}

}  // namespace

std::int64_t effort_for(std::span<const Phase> phases) {
  constexpr std::int64_t for_each_edge = 5000;
  std::int64_t edges = 1;
  for (const Phase& phase : phases) {
    for (Rank rank = 0; rank < phase.graph.ranks(); ++rank) {
      edges += static_cast<std::int64_t>(phase.graph.edges(rank).size());
    }
  }
  return std::min(Mapping().effort, for_each_edge * edges);
}

std::vector<Candidate> candidates(const Mapping& mapping) {
  check(mapping);
  if (mapping.ranks() == 0) return {};
  std::vector<Candidate> all;
  const auto add = [&](std::string_view method, Placement placement) {
    all.push_back({.method = method, .placement = std::move(placement)});
    judge(mapping.phases, mapping.ground, all.back());
  };
  const Ground& ground = mapping.ground;
  if (!mapping.given.empty()) add("given", mapping.given);
  add("block", with_fixed(mapping, ground.block(mapping.ranks())));
  add("cyclic", with_fixed(mapping, ground.cyclic(mapping.ranks())));
  add("greedy", greedy(mapping));
  if (mapping.scotch) {
    if (std::optional<Placement> divided = mapping.scotch(mapping)) add("scotch", std::move(*divided));
  }

  // The better of two starts often leads to the better end, but not always.
  std::vector<std::size_t> starts(all.size());
  std::iota(starts.begin(), starts.end(), std::size_t{0});
  std::stable_sort(starts.begin(), starts.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].seconds < all[b].seconds; });
  starts.resize(2);
  for (const std::size_t start : starts) {
    add("refined", refined(mapping, with_fixed(mapping, all[start].placement), mapping.effort / 2));
  }
  sort(all);
  return all;
}

std::vector<Candidate> candidates(Mapping mapping, const PhasesOf& phases_of) {
  constexpr int rounds = 3;
  std::vector<Candidate> best;  // by method
  Placement from = mapping.given;
  if (from.empty()) {
    mapping.phases = phases_of({});
    check(mapping);
    from = with_fixed(mapping, mapping.ground.block(mapping.ranks()));
  }
  for (int round = 0; round < rounds; ++round) {
    mapping.phases = phases_of(from);
    bool better = best.empty();
    for (Candidate& one : candidates(mapping)) {
      judge(phases_of(one.placement), mapping.ground, one);
      better = better || one.seconds < best.front().seconds;
      const auto same =
          std::find_if(best.begin(), best.end(), [&](const Candidate& known) { return known.method == one.method; });
      if (same == best.end()) {
        best.push_back(std::move(one));
      } else if (one.seconds < same->seconds) {
        *same = std::move(one);
      }
    }
    sort(best);
    if (!better || best.empty()) break;
    from = best.front().placement;
  }
  return best;
}

}  // namespace quadrille::placement
