#include "measure/calibration.hpp"

#include <gtest/gtest.h>

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
  const auto results = measured_on(real, {.pair_on_node = true, .several_nodes = true, .oversubscribed = true}, all);
  cost::Machine found{.model = cost::built_in(), .from = ""};
  found.model.cores = 2;
  found.model.network.eager = real.network.eager;
  found.model.network.rendezvous = real.network.rendezvous;
  calibrate(found, results, all);
  for (const Result& one : results) {
    EXPECT_NEAR(price(one.experiment, found.model, all) / one.seconds.middle, 1, 0.05) << one.experiment.number;
  }
  for (const char* name : {"memory.flag_us", "memory.copy_ns_per_byte", "node.latency_us", "node.overhead_us",
                           "network.latency_us", "core.wake_us"}) {
    EXPECT_NEAR(number(found.model, name) / number(real, name), 1, 0.2) << name;
    const auto [low, high] = found.intervals.at(name);
    EXPECT_LT(low, high) << name;
  }
}

TEST(Calibration, LearnsOnlyWhatTheRanksCanShow) {
  for (const Experiment& one : experiments({.pair_on_node = true})) EXPECT_EQ(one.where, Experiment::Where::node);
  EXPECT_TRUE(experiments({}).empty());
  const auto racks = experiments({.several_nodes = true, .several_racks = true});
  EXPECT_EQ(racks.back().number, "rack.wire_ns_per_byte");
}

}  // namespace
}  // namespace quadrille::measure
