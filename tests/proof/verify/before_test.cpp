#include "verify/before.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "topology/topology.hpp"
#include "verify/subject.hpp"

namespace quadrille::verify {
namespace {

// On nodes of three ranks with little shared memory: pieces, loops, messages between leaders.
Subject on_nodes(const Algorithm& algorithm, Rank ranks, const Topology& nodes) {
  Problem problem{.ranks = ranks, .count = 40, .segment = 7, .topology = &nodes, .room = 24};
  const bool fits = refusal(algorithm, problem).empty() && !traits(algorithm.collective).counts_differ;
  return fits ? subject_of(algorithm, problem, [](Rank, Rank) { return 40; }) : Subject{};
}

std::vector<Pair> some_pairs(const HappensBefore& relation, std::mt19937& random) {
  std::uniform_int_distribution<HappensBefore::Id> any(0, relation.size() - 1);
  std::vector<Pair> pairs(1000);
  for (Pair& pair : pairs) pair = {any(random), any(random)};
  return pairs;
}

TEST(Before, WhatClocksShowIsWhatASearchFinds) {
  constexpr Rank ranks = 8;
  const Topology nodes(ranks, {{0, 0, 0, 1, 1, 1, 2, 2}});
  std::array<int, 2> seen = {};
  for (const Algorithm* algorithm : catalogue()) {
    if (!algorithm->hierarchical) continue;
    const Subject subject = on_nodes(*algorithm, ranks, nodes);
    if (subject.schedules.empty()) continue;
    Expressions expressions(subject.commutative);
    const Execution execution = execute(subject, expressions);
    ASSERT_EQ(execution.fault, "") << algorithm->name;
    const HappensBefore relation(execution);
    ASSERT_EQ(relation.fault(), "") << algorithm->name;
    if (relation.size() == 0) continue;
    std::mt19937 random(1);
    std::vector<Pair> ordered;
    for (const Pair& pair : some_pairs(relation, random)) {
      const bool found = found_ordered(relation, pair);
      ++seen[found ? 1 : 0];
      if (found) ordered.push_back(pair);
      EXPECT_EQ(first_unordered(relation, std::array{pair}), found ? -1 : 0)
          << relation.text(pair.earlier) << ", " << relation.text(pair.later);
    }
    EXPECT_EQ(first_unordered(relation, ordered), -1) << algorithm->name;
  }
  EXPECT_GT(seen[0], 1000);
  EXPECT_GT(seen[1], 1000);
}

TEST(Before, TheFirstOfThePairsIsReported) {
  constexpr Rank ranks = 8;
  const Topology nodes(ranks, {{0, 0, 0, 1, 1, 1, 2, 2}});
  const Subject subject = on_nodes(*find_algorithm(Collective::allreduce, "hierarchical"), ranks, nodes);
  Expressions expressions(subject.commutative);
  const Execution execution = execute(subject, expressions);
  const HappensBefore relation(execution);
  std::mt19937 random(2);
  std::vector<Pair> pairs = some_pairs(relation, random);
  for (int tries = 0; tries < 20; ++tries) {
    std::shuffle(pairs.begin(), pairs.end(), random);
    const auto first =
        std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return !found_ordered(relation, pair); });
    EXPECT_EQ(first_unordered(relation, pairs), first - pairs.begin());
  }
}

}  // namespace
}  // namespace quadrille::verify
