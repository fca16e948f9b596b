#include "measure/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cost/built_in.hpp"

namespace quadrille::measure {
namespace {

// What a machine would measure that is as its model says.
std::vector<Result> measured_on(const cost::Model& model, const Ground& ground, const Setting& all) {
  std::vector<Result> results;
  for (const Experiment& one : experiments(ground)) {
    const double seconds = price(one, model, all);
    results.push_back({one, {seconds, seconds * 0.98, seconds * 1.02}});
  }
  return results;
}

TEST(Calibration, FindsTheNumbersThatExplainTheTimes) {
  const Topology topology = Topology::nodes(16, 4);
  const Setting all{&topology, 1 << 18};
  cost::Model real = cost::built_in(cost::NetworkKind::bypass, 50000);
  real.cores = 2;
  real.wake = 7e-6;
  real.flag = 0.4e-6;
  real.node.latency = 1e-6;
  real.copy = 0.3e-9;
  const auto results = measured_on(
      real, {.pair_on_node = true, .several_nodes = true, .more_than_two_nodes = true, .oversubscribed = true}, all);
  cost::Machine found{.model = cost::built_in(), .from = ""};
  found.model.cores = 2;
  found.model.network.eager = real.network.eager;
  found.model.network.rendezvous = real.network.rendezvous;
  calibrate(found, results, all);
  for (const Result& one : results) {
    if (!one.experiment.rival.empty()) continue;
    EXPECT_NEAR(price(one.experiment, found.model, all) / one.seconds.middle, 1, 0.05) << one.experiment.number;
  }
  for (const char* name : {"memory.flag_us", "memory.copy_ns_per_byte", "node.latency_us", "node.overhead_us",
                           "network.latency_us", "core.wake_us"}) {
    EXPECT_NEAR(number(found.model, name) / number(real, name), 1, 0.2) << name;
    const auto [low, high] = found.intervals.at(name);
    EXPECT_LT(low, high) << name;
  }
}

// Four racks of four nodes, whose uplinks are as slow as a node's link, or slower.
TEST(Calibration, FindsTheRateOfUplinks) {
  std::vector<std::int32_t> racks;
  std::vector<std::int32_t> nodes;
  for (Rank rank = 0; rank < 64; ++rank) {
    racks.push_back(rank / 16);
    nodes.push_back(rank / 4);
  }
  const Topology topology(64, {racks, nodes});
  const Setting all{&topology, 1 << 18};
  for (const double wire : {400e-9, 1600e-9}) {
    cost::Model real = cost::built_in();
    real.network.wire = 400e-9;
    real.rack.wire = wire;
    const auto results = measured_on(
        real, {.pair_on_node = true, .several_nodes = true, .more_than_two_nodes = true, .several_racks = true}, all);
    cost::Machine found{.model = cost::built_in(), .from = ""};
    calibrate(found, results, all);
    EXPECT_NEAR(found.model.rack.wire / wire, 1, 0.05);
  }
}

// Messages are never so much faster for being the MPI's own.
TEST(Calibration, OfTheMpisOwnCollectivesItLearnsWhatANetworkDoesByItself) {
  const Topology topology = Topology::nodes(16, 4);
  const Setting all{&topology, 1 << 18};
  const auto learned = [&](double times) {
    std::vector<Result> results = measured_on(cost::built_in(), {.several_nodes = true}, all);
    for (Result& one : results) {
      if (one.experiment.rival.empty()) continue;
      one.seconds = {40e-6, 39e-6, 41e-6};
      const double seconds = 40e-6 / times;
      one.of_rival = {seconds, seconds * 0.99, seconds * 1.01};
    }
    cost::Machine found{.model = cost::built_in(), .from = ""};
    calibrate(found, results, all);
    return found;
  };
  EXPECT_EQ(learned(1.4).model.offload.latency, 0);
  EXPECT_FALSE(learned(1.4).intervals.contains("offload.latency_us"));
  EXPECT_DOUBLE_EQ(learned(10).model.offload.latency, 4e-6);
  EXPECT_DOUBLE_EQ(learned(10).model.offload.byte, 2 * learned(10).model.network.wire);
  EXPECT_TRUE(learned(10).intervals.contains("offload.latency_us"));
}

// Two nodes can't tell what it costs if several pairs of them exchange messages.
TEST(Calibration, WhatMakesNoDifferenceStaysAsItIs) {
  const Topology topology = Topology::nodes(8, 4);
  const Setting all{&topology, 1 << 18};
  for (const Experiment& one : experiments({.several_nodes = true})) EXPECT_NE(one.number, "network.exchange");
  const Experiment exchange = {"network.exchange", Experiment::Where::leaders, Collective::allgather,
                               "recursive_doubling", 8192};
  cost::Machine found{.model = cost::built_in(), .from = ""};
  const double seconds = 10 * price(exchange, found.model, all);
  calibrate(found, {{{exchange, {seconds, seconds, seconds}}}}, all);
  EXPECT_EQ(found.model.network.exchange, 1);
}

TEST(Calibration, LearnsOnlyWhatTheRanksCanShow) {
  for (const Experiment& one : experiments({.pair_on_node = true})) EXPECT_EQ(one.where, Experiment::Where::node);
  EXPECT_TRUE(experiments({}).empty());
  const auto racks = experiments({.several_nodes = true, .several_racks = true});
  const auto of_racks = [](const Experiment& one) { return one.number == "rack.wire_ns_per_byte"; };
  EXPECT_TRUE(std::any_of(racks.begin(), racks.end(), of_racks));
}

}  // namespace
}  // namespace quadrille::measure
