#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "draw/xml.hpp"
#include "measure/pair_study.hpp"

namespace quadrille::measure {
namespace {

using cost::Between;
using cost::Pairs;

std::vector<std::int32_t> racks_of(int nodes, int in_rack) {
  std::vector<std::int32_t> racks;
  for (int node = 0; node < nodes; ++node) racks.push_back(node / in_rack);
  return racks;
}

Pairs machine_of(int nodes, int in_rack) {
  Pairs known;
  for (const std::int32_t rack : racks_of(nodes, in_rack)) {
    known.nodes.push_back({.name = "node" + std::to_string(known.nodes.size()), .rack = rack});
    if (static_cast<int>(known.racks.size()) <= rack) known.racks.push_back({"rack" + std::to_string(rack)});
  }
  if (known.racks.size() < 2) known.racks.clear();
  return known;
}

using Rate = std::function<double(std::int32_t from, std::int32_t to, const PairRound& round)>;

// Plays all nodes.
PairStudy studied(Pairs known, const Rate& rate) {
  PairStudy study(std::move(known), false);
  for (auto rounds = study.next(); !rounds.empty(); rounds = study.next()) {
    std::vector<PairSample> samples;
    for (const PairRound& round : rounds) {
      for (const NodePair& pair : round) {
        samples.push_back({pair.one, pair.other, 50e-6, rate(pair.one, pair.other, round)});
        samples.push_back({pair.other, pair.one, 50e-6, rate(pair.other, pair.one, round)});
      }
    }
    study.add(samples);
  }
  return study;
}

std::vector<std::string> named(const PairStudy& study, Finding::Kind kind) {
  std::vector<std::string> names;
  for (const Finding& one : study.findings()) {
    if (one.kind == kind) names.insert(names.end(), one.names.begin(), one.names.end());
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(PairRounds, NoTwoPairsOfARoundShareALink) {
  for (const int nodes : {2, 3, 4, 5, 7, 8, 11, 16, 33, 100}) {
    for (const int in_rack : {1, 2, 3, 8, 20, 100}) {
      const std::vector<std::int32_t> racks = racks_of(nodes, in_rack);
      const std::vector<NodePair> pairs = pairs_to_measure(racks);
      std::size_t count = 0;
      for (const PairRound& round : rounds_of(pairs, racks)) {
        std::set<std::int32_t> busy;
        std::set<std::int32_t> uplinks;
        for (const NodePair& pair : round) {
          ++count;
          EXPECT_LT(pair.one, pair.other);
          EXPECT_TRUE(busy.insert(pair.one).second);
          EXPECT_TRUE(busy.insert(pair.other).second);
          const std::int32_t one = racks[static_cast<std::size_t>(pair.one)];
          const std::int32_t other = racks[static_cast<std::size_t>(pair.other)];
          if (one == other) continue;
          EXPECT_TRUE(uplinks.insert(one).second);
          EXPECT_TRUE(uplinks.insert(other).second);
        }
      }
      EXPECT_EQ(count, pairs.size());
      EXPECT_EQ((std::set<NodePair>(pairs.begin(), pairs.end()).size()), pairs.size());
    }
  }
}

TEST(PairRounds, ARackIsATournament) {
  for (const int nodes : {2, 3, 8, 15, 16}) {
    const std::vector<std::int32_t> racks = racks_of(nodes, nodes);
    const std::vector<NodePair> pairs = pairs_to_measure(racks);
    EXPECT_EQ(pairs.size(), nodes * (nodes - 1) / 2);
    EXPECT_EQ(rounds_of(pairs, racks).size(), nodes - 1 + nodes % 2) << nodes;
  }
}

TEST(PairRounds, OfLargeMachinesAreASample) {
  const std::vector<NodePair> one_rack = pairs_to_measure(racks_of(1000, 1000));
  EXPECT_EQ(one_rack.size(), 8 * 500);
  const std::vector<std::int32_t> racks = racks_of(1024, 32);
  const std::vector<NodePair> pairs = pairs_to_measure(racks);
  EXPECT_EQ(pairs.size(), 32 * 8 * 16 + 8 * 16 * 16);
  EXPECT_LE(rounds_of(pairs, racks).size(), 8 + 8 * 16);
}

TEST(PairStudy, NamesASlowNodeAndNothingElse) {
  const PairStudy study = studied(machine_of(6, 6), [](std::int32_t from, std::int32_t to, const PairRound&) {
    return from == 3 || to == 3 ? 1.2e6 : 6e6;
  });
  EXPECT_EQ(named(study, Finding::Kind::slow_node), Names{"node3"});
  EXPECT_EQ(study.findings().size(), 1);
  EXPECT_EQ(study.rounds(), 10) << "each pair twice";
  const Pairs pairs = study.result();
  ASSERT_EQ(slow_nodes(pairs).size(), 1);
  EXPECT_EQ(slow_nodes(pairs).front().names, Names{"node3"});
  EXPECT_DOUBLE_EQ(pairs.between(0, 3).rate, 1.2e6);
  EXPECT_DOUBLE_EQ(pairs.levels.at("network").rate, 6e6);
}

TEST(PairStudy, OfAlikePairsFindsNothing) {
  for (const int nodes : {1, 2, 3, 5, 40}) {
    const PairStudy study = studied(machine_of(nodes, nodes), [](auto...) { return 6e6; });
    EXPECT_TRUE(study.findings().empty()) << nodes;
    EXPECT_TRUE(slow_nodes(study.result()).empty()) << nodes;
  }
}

TEST(PairStudy, KnowsASlowUplinkFromOthers) {
  const auto rate = [](std::int32_t from, std::int32_t to, const PairRound&) {
    const bool across = from / 3 != to / 3;
    return across && (from / 3 == 1 || to / 3 == 1) ? 1e6 : 6e6;
  };
  const PairStudy three = studied(machine_of(9, 3), rate);
  EXPECT_EQ(three.findings().front().names, Names{"rack1"});
  EXPECT_EQ(named(three, Finding::Kind::slow_uplink).front(), "rack1");
  EXPECT_TRUE(named(three, Finding::Kind::slow_node).empty());
  EXPECT_TRUE(named(three, Finding::Kind::slow_pair).empty());
  // Of two, only both.
  const PairStudy two = studied(machine_of(6, 3), rate);
  EXPECT_EQ(named(two, Finding::Kind::slow_uplink), (Names{"rack0", "rack1"}));
  EXPECT_EQ(two.findings().size(), 1);
}

TEST(PairStudy, RecognisesRacksThatNobodyHasNamed) {
  // Pairs that cross at the same time share the uplinks.
  const auto rate = [](std::int32_t from, std::int32_t to, const PairRound& round) {
    const auto crosses = [](const NodePair& pair) { return pair.one / 4 != pair.other / 4; };
    const auto crossing = std::count_if(round.begin(), round.end(), crosses);
    return from / 4 == to / 4 ? 6e6 : 2e6 / static_cast<double>(crossing);
  };
  const PairStudy study = studied(machine_of(8, 8), rate);
  EXPECT_EQ(named(study, Finding::Kind::racks), (Names{"group0", "group1"}));
  const Pairs pairs = study.result();
  EXPECT_TRUE(pairs.same_rack(0, 3));
  EXPECT_FALSE(pairs.same_rack(3, 4));
  EXPECT_DOUBLE_EQ(pairs.levels.at("rack").rate, 2e6) << "one pair at a time on an uplink";
}

TEST(PairStudy, NamesWhatIsSlowInOneDirection) {
  const PairStudy node = studied(
      machine_of(6, 6), [](std::int32_t from, std::int32_t, const PairRound&) { return from == 2 ? 2e6 : 6e6; });
  EXPECT_EQ(named(node, Finding::Kind::asymmetric), Names{"node2"});
  const PairStudy pair = studied(machine_of(6, 6), [](std::int32_t from, std::int32_t to, const PairRound&) {
    return from == 2 && to == 5 ? 2e6 : 6e6;
  });
  EXPECT_EQ(named(pair, Finding::Kind::asymmetric), (Names{"node5", "node2"}));
  EXPECT_EQ(named(pair, Finding::Kind::slow_pair), (Names{"node2", "node5"}));
  EXPECT_TRUE(named(pair, Finding::Kind::slow_node).empty());
}

TEST(PairStudy, LooksCloserAtNodesWithAnOddPairInASample) {
  const auto rate = [](std::int32_t from, std::int32_t to, const PairRound&) {
    const auto [low, high] = std::minmax(from, to);
    return low == 0 && high > 30 ? 2e6 : 6e6;
  };
  const PairStudy study = studied(machine_of(40, 40), rate);
  const Pairs pairs = study.result();
  for (std::int32_t other = 1; other < 40; ++other) EXPECT_NE(pairs.find(0, other), nullptr) << other;
  EXPECT_LT(study.pairs_measured(), study.pairs());
}

TEST(PairStudy, MeasuresAgainWhatIsNotStable) {
  int calls = 0;
  const PairStudy study = studied(machine_of(4, 4), [&](std::int32_t from, std::int32_t to, const PairRound&) {
    return from == 0 && to == 1 ? 1e6 * std::pow(1.5, ++calls) : 6e6;
  });
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(named(study, Finding::Kind::unstable), (Names{"node0", "node1"}));
  EXPECT_TRUE(named(study, Finding::Kind::slow_pair).empty()) << "what is not stable is not called slow";
}

TEST(PairStudy, DrawsBothMatrices) {
  const PairStudy study = studied(machine_of(6, 3), [](auto...) { return 6e6; });
  const std::string svg = to_svg(study);
  EXPECT_EQ(draw::XmlCheck::fault(svg), "");
  EXPECT_NE(svg.find("Rates between nodes"), std::string::npos);
  EXPECT_NE(svg.find("Latencies between nodes"), std::string::npos);
  EXPECT_NE(to_text(study).find("6 nodes in 2 racks"), std::string::npos);
}

}  // namespace
}  // namespace quadrille::measure
