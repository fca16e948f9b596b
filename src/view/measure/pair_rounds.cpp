#include "measure/pair_rounds.hpp"

#include <algorithm>
#include <set>

#include "patterns/tournament.hpp"

namespace quadrille::measure {

namespace {

using Nodes = std::vector<std::int32_t>;

// Calls meet(one, other) for the pairs of a tournament, round by round; of a large one for rounds that are spread
// evenly.
template <class Meet>
void tournament(std::int32_t size, std::int32_t complete, Meet&& meet) {
  const Rank rounds = patterns::tournament_rounds(size);
  const Rank taken = size <= complete ? rounds : std::min(rounds, sampled_partners);
  for (Rank i = 0; i < taken; ++i) {
    const auto round = static_cast<Rank>(std::int64_t{i} * rounds / taken);
    for (Rank one = 0; one < size; ++one) {
      const auto other = patterns::tournament_partner(one, size, round);
      if (other && one < *other) meet(static_cast<std::size_t>(one), static_cast<std::size_t>(*other));
    }
  }
}

std::vector<Nodes> nodes_by_rack(std::span<const std::int32_t> rack_of) {
  std::vector<Nodes> racks;
  for (std::size_t node = 0; node < rack_of.size(); ++node) {
    const auto rack = static_cast<std::size_t>(rack_of[node]);
    if (racks.size() <= rack) racks.resize(rack + 1);
    racks[rack].push_back(static_cast<std::int32_t>(node));
  }
  return racks;
}

}  // namespace

std::vector<NodePair> pairs_to_measure(std::span<const std::int32_t> rack_of) {
  const std::vector<Nodes> racks = nodes_by_rack(rack_of);
  std::vector<NodePair> pairs;
  for (const Nodes& rack : racks) {
    tournament(static_cast<std::int32_t>(rack.size()), complete_rack, [&](std::size_t one, std::size_t other) {
      pairs.push_back({rack[one], rack[other]});
    });
  }
  tournament(static_cast<std::int32_t>(racks.size()), sampled_partners + 1, [&](std::size_t one, std::size_t other) {
    const Nodes& here = racks[one];
    const Nodes& there = racks[other];
    if (here.empty() || there.empty()) return;
    const std::size_t nodes = std::max(here.size(), there.size());
    const std::size_t count = std::min<std::size_t>(nodes, complete_rack);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = i * nodes / count;
      const auto [low, high] = std::minmax(here[at % here.size()], there[at % there.size()]);
      pairs.push_back({low, high});
    }
  });
  return pairs;
}

std::vector<PairRound> rounds_of(std::span<const NodePair> pairs, std::span<const std::int32_t> rack_of) {
  struct Busy {
    std::set<std::int32_t> nodes;
    std::set<std::int32_t> uplinks;
  };
  std::vector<PairRound> rounds;
  std::vector<Busy> busy;
  std::vector<std::size_t> next(rack_of.size());  // by node: it is part of all rounds before, or of none that matters
  const auto rack = [&](std::int32_t node) { return rack_of[static_cast<std::size_t>(node)]; };
  for (const NodePair& pair : pairs) {
    const bool leaves = rack(pair.one) != rack(pair.other);
    std::size_t round = std::max(next[static_cast<std::size_t>(pair.one)], next[static_cast<std::size_t>(pair.other)]);
    const auto is_taken = [&](const Busy& at) {
      return at.nodes.contains(pair.one) || at.nodes.contains(pair.other) ||
             (leaves && (at.uplinks.contains(rack(pair.one)) || at.uplinks.contains(rack(pair.other))));
    };
    while (round < rounds.size() && is_taken(busy[round])) ++round;
    if (round == rounds.size()) {
      rounds.emplace_back();
      busy.emplace_back();
    }
    rounds[round].push_back(pair);
    busy[round].nodes.insert({pair.one, pair.other});
    if (leaves) busy[round].uplinks.insert({rack(pair.one), rack(pair.other)});
    for (const std::int32_t node : {pair.one, pair.other}) {
      std::size_t& first = next[static_cast<std::size_t>(node)];
      while (first < rounds.size() && busy[first].nodes.contains(node)) ++first;
    }
  }
  return rounds;
}

}  // namespace quadrille::measure
