#include "topology/topology.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace quadrille {
namespace {

std::vector<Rank> members(const Group& group) {
  std::vector<Rank> all;
  for (Rank i = 0; i < group.size(); ++i) all.push_back(group[i]);
  return all;
}

TEST(Topology, NodesGroupConsecutiveRanksAndTheLastMayBeSmaller) {
  const Topology topology = Topology::nodes(7, 3);
  EXPECT_EQ(topology.levels(), 2);
  EXPECT_EQ(members(topology.domain(1, 4)), (std::vector<Rank>{3, 4, 5}));
  EXPECT_EQ(members(topology.domain(1, 6)), (std::vector<Rank>{6}));
}

TEST(Topology, TheRootIsTheLeaderOfItsDomainOnEveryLevel) {
  // Two racks of two nodes of two.
  const Topology topology(8, {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}});
  EXPECT_EQ(members(topology.leaders(0, 0, 7)), (std::vector<Rank>{0, 7}));
  EXPECT_EQ(members(topology.leaders(1, 5, 7)), (std::vector<Rank>{4, 7}));
  EXPECT_EQ(members(topology.leaders(1, 1, 7)), (std::vector<Rank>{0, 2}));
  EXPECT_EQ(topology.leader(2, 6, 7), 7);
  EXPECT_EQ(topology.leader(2, 3, 7), 2);
}

TEST(Topology, DomainsNeedNotBeConsecutive) {
  const Topology topology(5, {{1, 0, 1, 0, 1}});
  EXPECT_EQ(members(topology.domain(1, 2)), (std::vector<Rank>{0, 2, 4}));
  EXPECT_EQ(members(topology.leaders(0, 3, 4)), (std::vector<Rank>{4, 1}));
}

TEST(Topology, AMillionRanksAreGroupedQuickly) {
  const Topology topology = Topology::nodes(1 << 20, 128);
  for (Rank rank = 0; rank < (1 << 20); rank += 1 << 16) {
    EXPECT_EQ(topology.domain(1, rank + 5).size(), 128);
    EXPECT_EQ(topology.leader(1, rank + 5, rank + 7), rank + 7);
  }
  EXPECT_EQ(topology.leaders(0, 12345, 77).size(), 8192);
}

TEST(Topology, EveryRankNeedsADomain) {
  EXPECT_THROW(Topology(3, {{0, 0}}), std::invalid_argument);
}

}  // namespace
}  // namespace quadrille
