#include "graph/graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "cost/built_in.hpp"
#include "graph/decompose.hpp"
#include "graph/policy.hpp"
#include "knowledge/library.hpp"

namespace quadrille::graph {
namespace {

Policy all_by(Collective collective, std::string_view algorithm) {
  return with(quadrille_policy({}), collective, variant_named(collective, algorithm));
}

Case alltoall(Rank ranks, std::int64_t block) {
  return case_of_bytes(Collective::alltoall, block * ranks, {.ranks = ranks, .nodes = ranks, .ranks_per_node = 1});
}

// Zhang et al., Process mapping for MPI collective communications, Fig. 2 and 3.
TEST(Graph, OfTheWorkedExampleIsThatOfThePaper) {
  const Graph graph = graph_of(alltoall(8, 10), policy_of(*knowledge::library_with_policy("mpich-1.2.7")));
  EXPECT_EQ(graph.rows(), graph_of(alltoall(8, 10), all_by(Collective::alltoall, "bruck")).rows());
  EXPECT_EQ(graph.total(), (Traffic{24, 960}));
  for (const auto& [from, row] : graph.rows()) {
    for (const auto& [to, traffic] : row) EXPECT_EQ(traffic, (Traffic{1, 40})) << from << " to " << to;
  }
  // The figure adds up both directions.
  constexpr std::array<std::int64_t, 8> by_distance = {0, 40, 40, 0, 80, 0, 40, 40};
  const Graph both = graph.symmetric();
  for (Rank from = 0; from < 8; ++from) {
    for (Rank to = 0; to < 8; ++to) {
      EXPECT_EQ(both.between(from, to).bytes, by_distance[static_cast<std::size_t>((to - from + 8) % 8)]);
    }
  }
}

TEST(Graph, OfAGridHasItsNeighbours) {
  constexpr std::array<Rank, 2> extents = {3, 4};
  const Graph open = grid(extents, false, 100);
  EXPECT_EQ(open.total(), (Traffic{2 * (2 * 4 + 3 * 3), 3400}));
  EXPECT_EQ(open.between(0, 4).bytes, 100);
  EXPECT_EQ(open.between(3, 4).bytes, 0);
  const Graph torus = grid(extents, true, 100);
  EXPECT_EQ(torus.total().messages, 4 * 12);
  EXPECT_EQ(torus.between(3, 0).bytes, 100);
  EXPECT_EQ(torus.between(0, 8).bytes, 100);
  const Graph cylinder = grid(extents, std::vector<bool>{false, true}, 100);
  EXPECT_EQ(cylinder.between(3, 0).bytes, 100);
  EXPECT_EQ(cylinder.between(0, 8).bytes, 0);
  EXPECT_EQ(cylinder.total().messages, 2 * (3 * 4 + 2 * 4));
  // On two ranks the neighbours of both directions are one.
  constexpr std::array<Rank, 1> two = {2};
  EXPECT_EQ(grid(two, true, 5).between(0, 1), (Traffic{2, 10}));
}

TEST(Graph, OfATraceHasMessagesAndWhatCollectivesBecome) {
  trace::Trace trace;
  trace.ranks = 8;
  trace.messages[1][2] = {3, 30};
  trace.messages[1][trace::another_world] = {1, 1};
  const trace::Communicator odd{trace::Ranks(std::vector<Rank>{1, 3, 5, 7})};
  trace.collectives[odd][{.collective = Collective::bcast, .root = 1, .count = 100}] = {10, 4000, 0, 0};
  trace::Calls gathered{2, 60, 0, 0};
  gathered.blocks[2][0] = {2, 60};
  trace.collectives[odd][{.collective = Collective::gatherv}] = gathered;
  trace.collectives[{trace::Ranks(std::vector<Rank>{0}), trace::Ranks(std::vector<Rank>{1})}]
                   [{.collective = Collective::barrier}] = {7, 0, 0, 0};
  const Decomposed all = decompose(trace, all_by(Collective::bcast, "linear"));
  EXPECT_EQ(all.messages.total(), (Traffic{3, 30}));
  const Graph collectives = all.collectives();
  EXPECT_EQ(collectives.between(3, 1), (Traffic{10, 1000}));
  EXPECT_EQ(collectives.between(3, 7), (Traffic{10, 1000}));
  EXPECT_EQ(collectives.between(5, 1), (Traffic{2, 60}));
  EXPECT_EQ(collectives.total().messages, 32);
  ASSERT_EQ(all.omitted.size(), 1);
  EXPECT_EQ(all.omitted[0].collective, "barrier");
  EXPECT_EQ(all.omitted[0].calls, 7);
}

// Every collective whose sizes all ranks know, by every algorithm that says what it sends: as many messages and bytes
// as its schedules have is for other tests; here, that nothing is lost or thrown on the way.
TEST(Graph, OfEachCollectiveIsMadeByOurPolicy) {
  const Policy policy = quadrille_policy({});
  for (int i = 0; i < collectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    if (!sizes_are_known(collective)) continue;
    for (const Rank ranks : {2, 3, 7, 8}) {
      const Case asked = case_of_bytes(collective, 4096, {.ranks = ranks, .nodes = ranks, .ranks_per_node = 1});
      const Graph graph = graph_of(asked, policy);
      EXPECT_GE(graph.total().messages, ranks - 1) << name(collective) << " on " << ranks;
    }
  }
}

// Rows of a grid call at the same time; rows and columns don't.
TEST(Graph, OfATraceHasAPhaseForWhatIsUnderWayTogether) {
  trace::Trace trace;
  trace.ranks = 4;
  const trace::Kind kind{.collective = Collective::bcast, .count = 100};
  for (const std::vector<Rank>& ranks : {std::vector<Rank>{0, 1}, {2, 3}, {0, 2}, {1, 3}}) {
    trace.collectives[{trace::Ranks(ranks)}][kind] = {5, 1000, 0, 0};
  }
  trace.collectives[{trace::Ranks(std::vector<Rank>{0, 1})}][{.collective = Collective::barrier}] = {1, 0, 0, 0};
  const Decomposed all = decompose(trace, all_by(Collective::bcast, "linear"));
  ASSERT_EQ(all.phases.size(), 3U);
  EXPECT_EQ(all.collectives().between(0, 1).bytes, 500);
  int of_two = 0;
  for (const Graph& phase : all.phases) of_two += phase.total() == Traffic{10, 1000} ? 1 : 0;
  EXPECT_EQ(of_two, 2);
}

// Ranks that share a node need not send each other what goes through its memory.
TEST(Graph, OfOurPolicyDependsOnWhereRanksAre) {
  cost::Model model = cost::built_in();
  model.cores = 4;
  const Policy policy = quadrille_policy(model, 320 << 10);
  const Case asked = case_of_bytes(Collective::allreduce, 64, {.ranks = 16, .nodes = 16, .ranks_per_node = 1});
  std::vector<Place> block;
  std::vector<Place> cyclic;
  for (std::uint64_t rank = 0; rank < 16; ++rank) {
    block.push_back({rank / 4, 0});
    cyclic.push_back({rank % 4, 0});
  }
  const Graph apart = graph_of(asked, policy);
  for (const std::vector<Place>& places : {block, cyclic}) {
    const Graph graph = graph_of(asked, policy, places);
    EXPECT_LT(graph.total().messages, apart.total().messages);
    for (const auto& [from, row] : graph.rows()) {
      for (const auto& [to, traffic] : row) {
        EXPECT_NE(places[static_cast<std::size_t>(from)], places[static_cast<std::size_t>(to)]);
      }
    }
  }
  EXPECT_NE(graph_of(asked, policy, block).rows(), graph_of(asked, policy, cyclic).rows());
}

TEST(Graph, OfALibraryThatKnowsNoNodesIsTheSameEverywhere) {
  const Policy policy = policy_of(*knowledge::library_of("Open MPI v4.1.4"));
  const std::vector<Place> together(16);
  EXPECT_FALSE(policy.knows_nodes);
  EXPECT_EQ(graph_of(alltoall(16, 2), policy, together).rows(), graph_of(alltoall(16, 2), policy).rows());
}

// Data comes to each node once, and to each of its ranks once, wherever they are.
TEST(Graph, OfHanKeepsToNodes) {
  const Policy policy = policy_of(*knowledge::library_with_policy("openmpi-4.1-han"));
  EXPECT_TRUE(policy.knows_nodes);
  Case asked = case_of_bytes(Collective::bcast, 1000000, {.ranks = 16, .nodes = 16, .ranks_per_node = 1});
  asked.root = 6;
  for (const bool in_turn : {false, true}) {
    std::vector<Place> places;
    for (std::uint64_t rank = 0; rank < 16; ++rank) places.push_back({in_turn ? rank % 4 : rank / 4, 0});
    const Graph graph = graph_of(asked, policy, places);
    std::int64_t outside = 0;
    for (const auto& [from, row] : graph.rows()) {
      for (const auto& [to, traffic] : row) {
        const bool apart = places[static_cast<std::size_t>(from)] != places[static_cast<std::size_t>(to)];
        if (apart) outside += traffic.bytes;
      }
    }
    EXPECT_EQ(outside, 3 * 1000000);
    EXPECT_EQ(graph.total().bytes, 15 * 1000000);
  }
}

TEST(Policy, OfALibraryIsNamedByItsVersion) {
  const knowledge::Library* const library = knowledge::library_of("Open MPI v4.1.4");
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(policy_of(*library).name, "openmpi-4.1");
  const Graph graph = graph_of(alltoall(16, 2), policy_of(*library));
  EXPECT_GT(graph.total().messages, 0);
}

TEST(Policy, ThatDoesNotKnowACollectiveSaysSo) {
  const Policy nothing{.name = "nothing",
                       .choose = [](const Case&, const Requirements::Ground&) { return knowledge::Choice{}; }};
  EXPECT_THROW(graph_of(alltoall(8, 10), nothing), std::invalid_argument);
}

}  // namespace
}  // namespace quadrille::graph
