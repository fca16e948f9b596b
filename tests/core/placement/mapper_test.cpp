#include "placement/mapper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "partition/scotch.hpp"
#include "placement/phases.hpp"

namespace quadrille::placement {
namespace {

cost::Model ethernet() {
  cost::Model model;
  model.node = {.latency = 2e-7, .overhead = 3e-7, .work = 1e-10};
  model.network = {.latency = 2e-5, .overhead = 2e-6, .work = 2e-10, .wire = 8e-9};
  model.rack = {.latency = 4e-5, .overhead = 2e-6, .work = 2e-10, .wire = 4e-9};
  return model;
}

using Traffic = std::vector<std::vector<Sent>>;  // by phase

Mapping mapping_of(Rank ranks, const Traffic& traffic, Ground ground) {
  Mapping mapping;
  for (const std::vector<Sent>& sent : traffic) mapping.phases.push_back({Graph(ranks, sent), 1});
  mapping.ground = std::move(ground);
  mapping.scotch = by_scotch;
  return mapping;
}

// What Load keeps up to date, by its definition.
double seconds_of(const Traffic& traffic, const Ground& ground, const Placement& placement) {
  const auto at = [](auto number) { return static_cast<std::size_t>(number); };
  double all = 0;
  for (const std::vector<Sent>& sent : traffic) {
    std::vector<double> ranks(placement.size());
    std::vector<double> out(ground.rack_of.size());
    std::vector<double> in(out);
    std::vector<double> up(at(ground.racks()));
    std::vector<double> down(up);
    for (const Sent& one : sent) {
      const std::int32_t from = ground.node_of[at(placement[at(one.from)])];
      const std::int32_t to = ground.node_of[at(placement[at(one.to)])];
      const bool far = ground.rack_of[at(from)] != ground.rack_of[at(to)];
      const cost::Link& link = far ? ground.model.rack : from != to ? ground.model.network : ground.model.node;
      const double work = one.messages * link.overhead + one.bytes * link.work;
      ranks[at(one.from)] += work;
      ranks[at(one.to)] += work + one.messages * link.latency;
      if (from == to) continue;
      const auto slower = [&](std::int32_t node) { return ground.slower.empty() ? 1 : ground.slower[at(node)]; };
      out[at(from)] += one.bytes * ground.model.network.wire * slower(from);
      in[at(to)] += one.bytes * ground.model.network.wire * slower(to);
      if (!far) continue;
      up[at(ground.rack_of[at(from)])] += one.bytes * ground.model.rack.wire;
      down[at(ground.rack_of[at(to)])] += one.bytes * ground.model.rack.wire;
    }
    double busiest = 0;
    for (const auto* each : {&ranks, &out, &in, &up, &down}) {
      for (const double one : *each) busiest = std::max(busiest, one);
    }
    all += busiest;
  }
  return all;
}

struct Problem {
  Rank ranks = 0;
  Traffic traffic;
  Ground ground;
};

Problem random_problem(std::mt19937& random, Rank most_ranks) {
  const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  Problem problem{.ranks = 2 + below(most_ranks - 1), .traffic = {}, .ground = {}};
  problem.traffic.resize(static_cast<std::size_t>(1 + below(3)));
  const int density = 1 + below(4);
  for (std::vector<Sent>& sent : problem.traffic) {
    for (Rank from = 0; from < problem.ranks; ++from) {
      for (Rank to = 0; to < problem.ranks; ++to) {
        if (from == to || below(4) >= density) continue;
        sent.push_back({from, to, 1.0 + below(20), static_cast<double>(64 << below(12))});
      }
    }
  }
  problem.ground.model = ethernet();
  const int racks = 1 + below(2);
  for (int node = 0; problem.ground.slots() < problem.ranks || node < 2 || below(3) == 0; ++node) {
    problem.ground.rack_of.push_back(node % racks);
    problem.ground.node_of.insert(problem.ground.node_of.end(), static_cast<std::size_t>(1 + below(4)), node);
    problem.ground.slower.push_back(below(5) == 0 ? 4 : 1);
  }
  return problem;
}

// Of all placements; slots of a node are the same.
double least_seconds(const Problem& problem) {
  std::vector<std::int32_t> next;
  std::vector<std::int32_t> end;
  for (std::int32_t slot = 0; slot < problem.ground.slots(); ++slot) {
    const auto node = static_cast<std::size_t>(problem.ground.node_of[static_cast<std::size_t>(slot)]);
    if (node == next.size()) {
      next.push_back(slot);
      end.push_back(slot);
    }
    ++end[node];
  }
  double least = std::numeric_limits<double>::infinity();
  Placement placement;
  const std::function<void()> place = [&] {
    if (placement.size() == static_cast<std::size_t>(problem.ranks)) {
      least = std::min(least, seconds_of(problem.traffic, problem.ground, placement));
      return;
    }
    for (std::size_t node = 0; node < next.size(); ++node) {
      if (next[node] == end[node]) continue;
      placement.push_back(next[node]++);
      place();
      placement.pop_back();
      --next[node];
    }
  };
  place();
  return least;
}

bool is_a_placement(const Placement& placement, const Mapping& mapping) {
  const std::set<std::int32_t> slots(placement.begin(), placement.end());
  return placement.size() == static_cast<std::size_t>(mapping.ranks()) && slots.size() == placement.size() &&
         *slots.begin() >= 0 && *slots.rbegin() < mapping.ground.slots();
}

TEST(Graph, EntriesOfAPairAddUp) {
  const std::vector<Sent> sent = {{0, 2, 1, 10}, {2, 0, 2, 5}, {0, 2, 3, 7}, {1, 1, 9, 9}, {1, 0, 1, 1}};
  const Graph graph(3, sent);
  ASSERT_EQ(graph.edges(0).size(), 2U);
  EXPECT_EQ(graph.edges(0)[0].peer, 1);
  const Graph::Edge& edge = graph.edges(0)[1];
  EXPECT_EQ(edge.peer, 2);
  EXPECT_EQ(edge.messages_out, 4);
  EXPECT_EQ(edge.bytes_out, 17);
  EXPECT_EQ(edge.messages_in, 2);
  EXPECT_EQ(edge.bytes_in, 5);
  EXPECT_EQ(graph.edges(1).size(), 1U);
}

TEST(Ground, FillsNodesInTurnOrOneAfterAnother) {
  const Ground ground{.node_of = {0, 0, 0, 1, 2, 2}, .rack_of = {0, 0, 0}, .slower = {}, .model = {}};
  EXPECT_EQ(ground.block(4), (Placement{0, 1, 2, 3}));
  EXPECT_EQ(ground.cyclic(6), (Placement{0, 3, 4, 1, 5, 2}));
}

TEST(Load, StaysRightWhenRanksMove) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const Problem problem = random_problem(random, 12);
    const Mapping mapping = mapping_of(problem.ranks, problem.traffic, problem.ground);
    Load load(mapping.phases, mapping.ground, mapping.ground.block(problem.ranks));
    for (int swaps = 0; swaps < 20; ++swaps) {
      const double expected = seconds_of(problem.traffic, problem.ground, load.placement());
      ASSERT_NEAR(load.seconds(), expected, 1e-6 * expected) << "problem " << i;
      const auto slots = static_cast<unsigned>(problem.ground.slots());
      load.swap(static_cast<std::int32_t>(random() % slots), static_cast<std::int32_t>(random() % slots));
    }
  }
}

TEST(Mapper, FindsTheOptimumOfSmallProblems) {
  std::mt19937 random(11);
  const int problems = std::getenv("QUADRILLE_PROVE_ALL") ? 1000 : 150;
  int optimal = 0;
  for (int i = 0; i < problems; ++i) {
    const Problem problem = random_problem(random, 7);
    Mapping mapping = mapping_of(problem.ranks, problem.traffic, problem.ground);
    mapping.effort = 100'000;
    const Candidate best = candidates(mapping).front();
    ASSERT_TRUE(is_a_placement(best.placement, mapping));
    const double least = least_seconds(problem);
    EXPECT_NEAR(seconds_of(problem.traffic, problem.ground, best.placement), best.seconds, 1e-6 * best.seconds);
    if (best.seconds <= least * (1 + 1e-6)) ++optimal;
    EXPECT_LE(best.seconds, 1.02 * least) << "problem " << i;
  }
  EXPECT_GE(optimal, problems * 99 / 100);
  RecordProperty("optimal", optimal);
}

std::vector<Sent> stencil(Rank x, Rank y, Rank z, double bytes) {
  std::vector<Sent> sent;
  const auto rank = [&](Rank i, Rank j, Rank k) { return ((i + x) % x * y + (j + y) % y) * z + (k + z) % z; };
  for (Rank i = 0; i < x; ++i) {
    for (Rank j = 0; j < y; ++j) {
      for (Rank k = 0; k < z; ++k) {
        for (const auto& [a, b, c] : {std::tuple(1, 0, 0), {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}) {
          sent.push_back({rank(i, j, k), rank(i + a, j + b, k + c), 1, bytes});
        }
      }
    }
  }
  return sent;
}

std::vector<Sent> hypercube(Rank ranks, double bytes) {
  std::vector<Sent> sent;
  for (Rank distance = 1; distance < ranks; distance *= 2) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      if ((rank ^ distance) < ranks) sent.push_back({rank, rank ^ distance, 1, bytes});
    }
  }
  return sent;
}

TEST(Mapper, IsNeverWorseThanTheMethodsItStartsFrom) {
  for (const Rank side : {4, 8, 16}) {
    const Rank ranks = side * side * side;
    Mapping mapping = mapping_of(ranks, {stencil(side, side, side, 4096), hypercube(ranks, 64)},
                                 Ground::of(ranks / 16, 16, std::max(1, ranks / 512), ethernet()));
    mapping.effort = 2'000'000;
    const std::vector<Candidate> all = candidates(mapping);
    ASSERT_GE(all.size(), 5U);
    for (const Candidate& one : all) {
      EXPECT_TRUE(is_a_placement(one.placement, mapping)) << one.method;
      EXPECT_LE(all.front().seconds, one.seconds) << one.method;
    }
  }
}

// 2,048 nodes: a stencil, an allreduce and an alltoall in each row.
TEST(Mapper, TakesSixtyFiveThousandRanks) {
  if (!std::getenv("QUADRILLE_PROVE_ALL")) GTEST_SKIP() << "takes a minute: set QUADRILLE_PROVE_ALL";
  constexpr Rank ranks = 65536;
  constexpr Rank row = 64;
  std::vector<Sent> rows;
  for (Rank from = 0; from < ranks; ++from) {
    for (Rank step = 1; step < row; ++step) rows.push_back({from, from / row * row + (from + step) % row, 1, 1024});
  }
  Mapping mapping =
      mapping_of(ranks, {stencil(64, 32, 32, 65536), hypercube(ranks, 64), rows}, Ground::of(2048, 32, 32, ethernet()));
  rows = {};
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Candidate> all = candidates(mapping);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const Candidate& one : all) std::cout << one.method << ' ' << one.seconds << '\n';
  EXPECT_LT(took.count(), 120);
  EXPECT_TRUE(is_a_placement(all.front().placement, mapping));
}

// A scheduler's arbitrary order hides a stencil's neighbours; they are found again.
TEST(Mapper, FindsNeighboursAgainThatWereShuffled) {
  std::mt19937 random(3);
  Mapping mapping = mapping_of(64, {stencil(4, 4, 4, 65536)}, Ground::of(16, 4, 1, ethernet()));
  mapping.given = mapping.ground.block(64);
  std::shuffle(mapping.given.begin(), mapping.given.end(), random);
  mapping.effort = 2'000'000;
  const std::vector<Candidate> all = candidates(mapping);
  const auto given = std::find_if(all.begin(), all.end(), [](const Candidate& one) { return one.method == "given"; });
  ASSERT_NE(given, all.end());
  EXPECT_GT(given->seconds, 1.3 * all.front().seconds);
}

TEST(Mapper, TheSameSeedGivesTheSameResult) {
  std::mt19937 random(5);
  const Problem problem = random_problem(random, 30);
  Mapping mapping = mapping_of(problem.ranks, problem.traffic, problem.ground);
  mapping.effort = 50'000;
  EXPECT_EQ(candidates(mapping).front().placement, candidates(mapping).front().placement);
}

TEST(Mapper, LeavesASlowNodeEmptyWhereThereAreSlotsEnough) {
  Ground ground = Ground::of(5, 4, 1, ethernet());
  ground.slower = {1, 1, 8, 1, 1};
  Mapping mapping = mapping_of(16, {stencil(4, 2, 2, 65536)}, ground);
  mapping.effort = 1'000'000;
  const Placement best = candidates(mapping).front().placement;
  for (const std::int32_t slot : best) {
    EXPECT_NE(mapping.ground.node_of[static_cast<std::size_t>(slot)], 2);
  }
}

TEST(Mapper, NodesMayHaveNoSlots) {
  Ground ground = Ground::of(4, 4, 1, ethernet());
  std::erase(ground.node_of, 1);
  Mapping mapping = mapping_of(12, {stencil(3, 2, 2, 4096)}, ground);
  mapping.effort = 100'000;
  for (const Candidate& one : candidates(mapping)) EXPECT_TRUE(is_a_placement(one.placement, mapping)) << one.method;
}

// Two pairs of neighbours: together, or the first and the last of the chain on one node, which takes the same time.
TEST(Mapper, OfEqualTimesTheOneWithLessToSendIsTheBest) {
  Mapping mapping = mapping_of(4, {{{0, 1, 1, 8}, {1, 2, 1, 8}, {2, 3, 1, 8}}}, Ground::of(2, 2, 1, ethernet()));
  mapping.effort = 10'000;
  const std::vector<Candidate> all = candidates(mapping);
  for (const Candidate& one : all) {
    if (one.seconds > all.front().seconds * (1 + 1e-9)) continue;
    EXPECT_LE(all.front().total, one.total) << one.method;
  }
}

TEST(Mapper, FixedRanksStay) {
  std::mt19937 random(9);
  for (int i = 0; i < 50; ++i) {
    const Problem problem = random_problem(random, 12);
    Mapping mapping = mapping_of(problem.ranks, problem.traffic, problem.ground);
    mapping.effort = 20'000;
    mapping.fixed.assign(static_cast<std::size_t>(problem.ranks), -1);
    mapping.fixed[0] = problem.ground.slots() - 1;
    mapping.fixed[1] = 0;
    for (const Candidate& one : candidates(mapping)) {
      ASSERT_TRUE(is_a_placement(one.placement, mapping)) << one.method;
      EXPECT_EQ(one.placement[0], mapping.fixed[0]) << one.method;
      EXPECT_EQ(one.placement[1], 0) << one.method;
    }
  }
}

// A program whose messages depend on where its ranks are: the first rank on each node sends for the others.
TEST(Mapper, JudgesEachCandidateByItsOwnMessages) {
  constexpr Rank ranks = 12;
  Mapping mapping;
  mapping.ground = Ground::of(4, 4, 1, ethernet());
  mapping.scotch = by_scotch;
  const auto traffic_of = [&](const Placement& placement) {
    std::vector<Sent> sent;
    std::vector<Rank> leaders(4, -1);
    for (std::size_t rank = 0; rank < placement.size(); ++rank) {
      Rank& leader = leaders[index(mapping.ground.node_of[index(placement[rank])])];
      if (leader < 0) leader = static_cast<Rank>(rank);
    }
    for (const Rank from : leaders) {
      for (const Rank to : leaders) {
        if (from >= 0 && to >= 0 && from != to) sent.push_back({from, to, 1, 1000.0 * (1 + from)});
      }
    }
    return sent;
  };
  const auto phases_of = [&](const Placement& placement) {
    return std::vector<Phase>{{Graph(ranks, traffic_of(placement)), 1}};
  };
  mapping.effort = 100'000;
  const std::vector<Candidate> all = candidates(mapping, phases_of);
  std::set<std::string_view> methods;
  for (const Candidate& one : all) {
    EXPECT_TRUE(methods.insert(one.method).second) << one.method;
    const double expected = seconds_of({traffic_of(one.placement)}, mapping.ground, one.placement);
    EXPECT_NEAR(one.seconds, expected, 1e-6 * expected) << one.method;
    EXPECT_LE(all.front().seconds, one.seconds) << one.method;
  }
  EXPECT_TRUE(methods.contains("block") && methods.contains("refined"));
}

TEST(Phases, OfAProgramAreItsMessagesAndEachKindOfItsCollectives) {
  graph::Decomposed sent{graph::Graph(8)};
  EXPECT_EQ(phases_of(sent).size(), 1U);
  sent.messages.add(0, 1, {1, 10});
  for (Rank i = 0; i < 7; ++i) {
    sent.phases.emplace_back(8);
    sent.phases.back().add(i, i + 1, {1, 100});
  }
  EXPECT_EQ(phases_of(sent).size(), 8U);
  for (int i = 0; i < 100; ++i) sent.phases.push_back(sent.phases.front());
  double bytes = 0;
  const std::vector<Phase> phases = phases_of(sent);
  EXPECT_LE(phases.size(), 33U);
  for (const Phase& phase : phases) {
    for (Rank rank = 0; rank < 8; ++rank) {
      for (const Graph::Edge& edge : phase.graph.edges(rank)) bytes += static_cast<double>(edge.bytes_out);
    }
  }
  EXPECT_EQ(bytes, 10 + 107 * 100);
}

TEST(Mapper, NamesWhatIsWrong) {
  Mapping mapping = mapping_of(4, {hypercube(4, 8)}, Ground::of(1, 3, 1, ethernet()));
  EXPECT_THROW(candidates(mapping), std::invalid_argument);
  mapping.ground = Ground::of(2, 2, 1, ethernet());
  mapping.fixed = {1, 1, -1, -1};
  EXPECT_THROW(candidates(mapping), std::invalid_argument);
  mapping.fixed = {4, -1, -1, -1};
  EXPECT_THROW(candidates(mapping), std::invalid_argument);
}

}  // namespace
}  // namespace quadrille::placement
