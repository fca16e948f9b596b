#include "forecast/forecast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "cost/built_in.hpp"
#include "knowledge/library.hpp"

namespace quadrille::forecast {
namespace {

Settings on_a_cluster() {
  Settings settings;
  settings.model = cost::built_in(cost::NetworkKind::bypass);
  return settings;
}

const Estimate& by(const Point& point, std::string_view algorithm) {
  const auto found = std::find_if(point.algorithms.begin(), point.algorithms.end(),
                                  [&](const Estimate& one) { return name_of(one.variant) == algorithm; });
  if (found == point.algorithms.end()) throw std::out_of_range(std::string(algorithm));
  return *found;
}

TEST(Forecast, ListsEachAlgorithmOnceTheQuickestFirst) {
  const Point point = estimate({Collective::bcast, 64, 1 << 20}, on_a_cluster(), {.place = {.per_node = 4}});
  EXPECT_EQ(point.nodes, 16);
  std::vector<std::string> names;
  for (const Estimate& one : point.algorithms) names.push_back(name_of(one.variant));
  EXPECT_GT(names.size(), 5);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_TRUE(std::is_sorted(point.algorithms.begin(), point.algorithms.end(),
                             [](const Estimate& a, const Estimate& b) { return a.time.seconds < b.time.seconds; }));
}

TEST(Forecast, SimulatesUpToSoManyMessagesAndPricesTheRest) {
  const Question asked{Collective::bcast, 64, 8};
  const Point simulated = estimate(asked, on_a_cluster(), {.place = {.per_node = 4}, .most_messages = 1000});
  const Point priced = estimate(asked, on_a_cluster(), {.place = {.per_node = 4}, .most_messages = 10});
  EXPECT_EQ(by(simulated, "binomial").time.method, Method::simulation);
  EXPECT_EQ(by(priced, "binomial").time.method, Method::price);
  EXPECT_NEAR(by(priced, "binomial").time.seconds / by(simulated, "binomial").time.seconds, 1, 0.5);
}

TEST(Forecast, EstimatesOneAlgorithmAsAmongAll) {
  const Question asked{Collective::bcast, 64, 1 << 20};
  const Options all{.place = {.per_node = 4}};
  const Point point = estimate(asked, on_a_cluster(), all);
  int compared = 0;
  for (const std::string name : {"binomial", "pipelined_chain", "hierarchical"}) {
    Options options = all;
    options.only = variant_named(Collective::bcast, name);
    const Point alone = estimate(asked, on_a_cluster(), options);
    ASSERT_EQ(alone.algorithms.size(), 1U);
    EXPECT_TRUE(alone.policies.empty());
    // Among all, those that are priced high are not simulated.
    const Seconds& time = by(point, name).time;
    if (time.method == alone.algorithms.front().time.method) {
      EXPECT_EQ(time.seconds, alone.algorithms.front().time.seconds) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(Forecast, EstimatesAnAlgorithmThatIsNotOfferedByName) {
  Options options{.only = variant_named(Collective::bcast, "scatter_ring_all")};
  ASSERT_FALSE(options.only.algorithm().offered);
  EXPECT_GT(estimate({Collective::bcast, 8, 1024}, on_a_cluster(), options).algorithms.front().time.seconds, 0);
  options.only = variant_named(Collective::bcast, "knomial:4");
  EXPECT_EQ(name_of(estimate({Collective::bcast, 8, 1024}, on_a_cluster(), options).algorithms.front().variant),
            "knomial:4");
  options.only = variant_named(Collective::allreduce, "offloaded");
  EXPECT_THROW(estimate({Collective::allreduce, 8, 1024}, on_a_cluster(), options), std::invalid_argument);
}

TEST(Forecast, KnowsWhatPoliciesWouldTake) {
  for (const Rank per_node : {1, 4}) {
    const Point point =
        estimate({Collective::allreduce, 16, 1 << 16}, on_a_cluster(), {.place = {.per_node = per_node}});
    const auto libraries = knowledge::libraries();
    const auto in_use = std::count_if(libraries.begin(), libraries.end(),
                                      [](const knowledge::Library* one) { return !one->is_historical; });
    ASSERT_EQ(point.policies.size(), static_cast<std::size_t>(1 + in_use));
    EXPECT_EQ(point.policies.front().policy, our_policy);
    for (const PolicyEstimate& one : point.policies) {
      // Inside nodes MPICH goes by shared memory; Open MPI 5.0 has a han of its own there.
      const bool unknown = per_node > 1 && (one.policy.starts_with("MPICH") || one.policy == "Open MPI 5.0");
      ASSERT_EQ(one.time.has_value(), !unknown) << one.policy;
      if (unknown) continue;
      // Its schedules cost an MPI nothing beyond their messages.
      EXPECT_GE(one.time->seconds, 0.9 * point.algorithms.front().time.seconds) << one.policy;
    }
  }
  const Point ours = estimate({Collective::allreduce, 16, 1 << 16}, on_a_cluster(), {.policy = knowledge::own_policy});
  EXPECT_EQ(ours.policies.size(), 1U);
  const Point once = estimate({Collective::allreduce, 16, 1 << 16}, on_a_cluster(), {.policy = "mpich-1.2.7"});
  ASSERT_EQ(once.policies.size(), 1U);
  EXPECT_EQ(once.policies.front().policy, "MPICH 1.2.7");
  EXPECT_TRUE(once.policies.front().time.has_value());
}

// In segments, each of which is in nodes while the next one is among them: no more than twice the slower level's time.
TEST(Forecast, HanHasBothLevelsAtTheSameTime) {
  const auto seconds = [](std::int64_t bytes) {
    const Options options{.place = {.per_node = 4}, .policy = "openmpi-4.1-han"};
    return estimate({Collective::bcast, 16, bytes}, on_a_cluster(), options).policies.front().time.value().seconds;
  };
  EXPECT_GT(seconds(20 << 16), 5 * seconds(1 << 16));
  EXPECT_LT(seconds(20 << 16), 20 * seconds(1 << 16));
}

TEST(Forecast, SitesAreAsFarFromEachOtherAsTheMachineSays) {
  Settings settings = on_a_cluster();
  settings.model.rack.latency = 10e-3;
  const Question asked{Collective::barrier, 30, 0};
  EXPECT_LT(estimate(asked, settings, {}).algorithms.front().time.seconds, 1e-3);
  const Point apart = estimate(asked, settings, {.place = {.rack_nodes = 10}});
  EXPECT_EQ(apart.racks, 3);
  for (const Estimate& one : apart.algorithms) EXPECT_GT(one.time.seconds, 10e-3) << name_of(one.variant);
}

// More ranks than are counted one by one: a short tree or a ring that crosses sites must not look as if it did not.
TEST(Forecast, TheChoiceBetweenSitesHeedsTheirBorders) {
  Settings settings = on_a_cluster();
  settings.model.rack.latency = 10e-3;
  settings.model.rack.wire = 0.84e-9;
  for (const Question& asked : {Question{Collective::bcast, 5000, 8}, Question{Collective::allreduce, 5000, 8},
                                Question{Collective::allgather, 5000, 1 << 16}}) {
    const Point point = estimate(asked, settings, {.place = {.rack_nodes = 500}, .policy = knowledge::own_policy});
    ASSERT_TRUE(point.policies.front().time);
    EXPECT_LT(point.policies.front().time->seconds, 1.3 * point.algorithms.front().time.seconds)
        << name(asked.collective) << " by " << point.policies.front().choice;
  }
}

TEST(Forecast, ThreadsMakeNoDifference) {
  std::vector<Question> asked;
  for (const Rank ranks : {2, 7, 16}) {
    for (const std::int64_t bytes : {8, 8192}) asked.push_back({Collective::allgather, ranks, bytes});
  }
  const std::vector<Point> alone = estimate(asked, on_a_cluster(), {}, 1);
  const std::vector<Point> together = estimate(asked, on_a_cluster(), {}, 3);
  ASSERT_EQ(alone.size(), asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(alone[i].asked.ranks, asked[i].ranks);
    ASSERT_EQ(alone[i].algorithms.size(), together[i].algorithms.size());
    for (std::size_t j = 0; j < alone[i].algorithms.size(); ++j) {
      EXPECT_EQ(alone[i].algorithms[j].variant, together[i].algorithms[j].variant);
      EXPECT_EQ(alone[i].algorithms[j].time.seconds, together[i].algorithms[j].time.seconds);
    }
  }
}

TEST(Forecast, AMillionRanksHaveTimes) {
  const Point point = estimate({Collective::allreduce, 1 << 20, 8}, on_a_cluster(), {.place = {.per_node = 32}});
  EXPECT_EQ(point.algorithms.front().time.method, Method::price);
  EXPECT_GT(point.algorithms.front().time.seconds, 15e-6);
  EXPECT_LT(point.algorithms.front().time.seconds, 1e-3);
}

}  // namespace
}  // namespace quadrille::forecast
