#include "cost/map.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace quadrille::cost {
namespace {

// Ranks in blocks on nodes, and nodes in blocks of these sizes on racks.
Topology blocks(const std::vector<std::int32_t>& nodes_of_racks, Rank per_node) {
  std::vector<std::int32_t> racks;
  std::vector<std::int32_t> nodes;
  std::int32_t node = 0;
  for (std::size_t rack = 0; rack < nodes_of_racks.size(); ++rack) {
    for (std::int32_t i = 0; i < nodes_of_racks[rack]; ++i, ++node) {
      nodes.insert(nodes.end(), static_cast<std::size_t>(per_node), node);
      racks.insert(racks.end(), static_cast<std::size_t>(per_node), static_cast<std::int32_t>(rack));
    }
  }
  const auto ranks = static_cast<Rank>(nodes.size());
  return {ranks, {racks, nodes}};
}

// A map that counts some of the ranks against one that counts all.
TEST(Map, SeesEveryMessageThatLeavesARackHoweverManyRanksThereAre) {
  const std::vector<std::vector<std::int32_t>> machines = {
      {30, 30, 30}, {17, 40, 1, 33}, {64, 64}, {5, 5, 5, 5, 5, 5, 7}};
  for (const std::vector<std::int32_t>& machine : machines) {
    for (const Rank per_node : {1, 3}) {
      const Topology topology = blocks(machine, per_node);
      Map all(topology);
      Map some(topology, 20);
      for (const Map::Group group : {Map::Group::all, Map::Group::nodes}) {
        const Rank ranks = all.ranks(group);
        for (const Map::Pattern pattern : {Map::Pattern::shift, Map::Pattern::exchange, Map::Pattern::tree}) {
          for (Rank distance = 1; distance < ranks; distance *= 2) {
            for (const Rank root : {0, 1, ranks / 2, ranks - 1}) {
              if (root != 0 && pattern != Map::Pattern::tree) continue;
              SCOPED_TRACE(std::to_string(ranks) + " ranks, pattern " + std::to_string(static_cast<int>(pattern)) +
                           ", distance " + std::to_string(distance) + ", root " + std::to_string(root));
              const Map::Flows exact = all.flows(group, pattern, distance, root);
              const Map::Flows found = some.flows(group, pattern, distance, root);
              EXPECT_EQ(found.climbing, exact.climbing);
              if (pattern != Map::Pattern::exchange) {
                EXPECT_DOUBLE_EQ(found.far, exact.far);
              }
              EXPECT_EQ(found.far > 0, exact.far > 0);
            }
          }
        }
      }
    }
  }
}

TEST(Map, CountsSomeRanksWhereThoseOfRacksAreScattered) {
  std::vector<std::int32_t> racks;
  std::vector<std::int32_t> nodes;
  for (Rank rank = 0; rank < 4096; ++rank) {
    racks.push_back(rank % 2);
    nodes.push_back(rank);
  }
  const Topology topology(4096, {racks, nodes});
  Map map(topology);
  EXPECT_DOUBLE_EQ(map.flows(Map::Group::all, Map::Pattern::tree, 1).far, 1);
}

}  // namespace
}  // namespace quadrille::cost
