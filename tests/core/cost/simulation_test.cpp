#include "cost/simulation.hpp"

#include <gtest/gtest.h>

#include "algorithms/catalogue.hpp"

namespace quadrille::cost {
namespace {

constexpr std::int64_t kib = 1024;

// Round numbers, in microseconds.
Model simple() {
  Model model;
  model.node = {.latency = 1, .overhead = 2, .work = 0, .wire = 0, .eager = 4 * kib, .rendezvous = 5};
  model.network = {.latency = 10, .overhead = 3, .work = 0, .wire = 0.01, .eager = 4 * kib, .rendezvous = 20};
  model.rack = {.latency = 50, .overhead = 3, .work = 0, .wire = 0.05, .eager = 4 * kib, .rendezvous = 100};
  model.flag = 0.5;
  return model;
}

double time_of(Collective collective, const char* name, Problem problem, const Topology& topology, const Model& model) {
  problem.ranks = problem.ranks == 1 ? 2 : problem.ranks;
  problem.topology = &topology;
  const Variant variant = variant_named(collective, name);
  return simulate(all_ranks(variant.algorithm(), problem), 1, topology, model).time();
}

TEST(Simulation, AMessageTakesBothEndsWorkTheWireAndTheLatency) {
  const Topology apart = Topology::nodes(2, 1);
  const Model model = simple();
  // Eager: 3 for the sender, 10 for 1000 bytes on the wire, latency 10, 3 for the receiver.
  EXPECT_DOUBLE_EQ(time_of(Collective::bcast, "binomial", {.count = 1000}, apart, model), 3 + 10 + 10 + 3);
  // Rendezvous: once both are there.
  EXPECT_DOUBLE_EQ(time_of(Collective::bcast, "binomial", {.count = 10000}, apart, model), 3 + 20 + 100 + 10 + 3);
  // In a node there is no wire.
  EXPECT_DOUBLE_EQ(time_of(Collective::bcast, "binomial", {.count = 1000}, Topology::nodes(2, 2), model), 2 + 1 + 2);
}

TEST(Simulation, ACoresWorkForBytesIsPaidAtBothEnds) {
  Model model = simple();
  model.network.work = 0.001;
  EXPECT_DOUBLE_EQ(time_of(Collective::bcast, "binomial", {.count = 1000}, Topology::nodes(2, 1), model),
                   3 + 1 + 10 + 10 + 3 + 1);
  // In a node the receiver alone copies what is long.
  model.node.work = 0.001;
  EXPECT_DOUBLE_EQ(time_of(Collective::bcast, "binomial", {.count = 1000}, Topology::nodes(2, 2), model),
                   2 + 1 + 1 + 2 + 1);
  EXPECT_DOUBLE_EQ(time_of(Collective::bcast, "binomial", {.count = 10000}, Topology::nodes(2, 2), model),
                   2 + 5 + 1 + 2 + 10);
}

// Seven ranks of other nodes send at once: the link of the root's node takes one after another.
TEST(Simulation, AWireCarriesOneMessageAtATime) {
  const Model model = simple();
  const double alone = time_of(Collective::gather, "linear", {.count = 1000}, Topology::nodes(2, 1), model);
  const double all = time_of(Collective::gather, "linear", {.ranks = 8, .count = 1000}, Topology::nodes(8, 1), model);
  EXPECT_NEAR(all - alone, 6 * 10, 6);
  // From one node they share its way out, too, and come no later for it.
  const double together = time_of(Collective::gather, "linear", {.ranks = 8, .count = 1000},
                                  Topology(8, {{0, 1, 1, 1, 1, 1, 1, 1}}), model);
  EXPECT_NEAR(together, all, 1e-9);
}

TEST(Simulation, MessagesBetweenRacksPassTheirUplinks) {
  const Model model = simple();
  const Topology racks(4, {{0, 0, 1, 1}, {0, 1, 2, 3}});
  // 0 to 2 in another rack, and then each to its neighbour.
  EXPECT_DOUBLE_EQ(time_of(Collective::bcast, "binomial", {.ranks = 4, .count = 1000}, racks, model),
                   3 + 50 + 50 + 3 + 3 + 10 + 10 + 3);
}

TEST(Simulation, RanksTakeTurnsOnFewerCores) {
  Model model = simple();
  model.network.overhead = model.node.overhead = 100;
  const Problem problem{.ranks = 8, .count = 8};
  const Topology one = Topology::nodes(8, 8);
  const double plenty = time_of(Collective::alltoall, "pairwise", problem, one, model);
  model.cores = 8;
  EXPECT_DOUBLE_EQ(time_of(Collective::alltoall, "pairwise", problem, one, model), plenty);
  model.cores = 2;
  const double few = time_of(Collective::alltoall, "pairwise", problem, one, model);
  EXPECT_GT(few, 3.5 * plenty);
  EXPECT_LT(few, 4.5 * plenty);
  // Who waits for a message sees it when the others that wait have had their turns.
  const double quick = time_of(Collective::barrier, "dissemination", {.ranks = 8}, one, model);
  model.wake = 1000;
  EXPECT_GT(time_of(Collective::barrier, "dissemination", {.ranks = 8}, one, model), quick + 3 * 1000);
  EXPECT_LT(time_of(Collective::barrier, "dissemination", {.ranks = 8}, one, model), quick + 3 * 4 * 1000);
  // Those that wait in shared memory sleep, and are woken by whoever they wait for.
  const double asleep = time_of(Collective::barrier, "hierarchical", {.ranks = 8, .room = 1000}, one, model);
  EXPECT_GT(asleep, 1000);
  EXPECT_LT(asleep, 8 * 1000);
  // On an emulated cluster all nodes have these two.
  model.wake = 0;
  const Topology nodes = Topology::nodes(8, 1);
  model.cores = 1;
  const double apart = time_of(Collective::alltoall, "pairwise", problem, nodes, model);
  model.cores = 2;
  model.one_machine = true;
  EXPECT_GT(time_of(Collective::alltoall, "pairwise", problem, nodes, model), 3 * apart);
}

TEST(Simulation, CountersAreSeenAfterAWhileAndReductionsTakeTime) {
  Model model;
  model.flag = 1;
  const Topology one = Topology::nodes(4, 4);
  const auto time = [&](std::int64_t count) {
    return time_of(Collective::allreduce, "hierarchical", {.ranks = 4, .count = count, .room = 1 << 16}, one, model);
  };
  // Short data is read by all from all.
  EXPECT_DOUBLE_EQ(time(1), 1);
  model.reduce = 0.01;
  model.copy = 0.001;
  EXPECT_GT(time(1000), 10);
}

// A pipeline of m segments over h hops takes m + h - 1 times a segment.
TEST(Simulation, SegmentsOverlapInAPipeline) {
  Model model;
  model.network = {.wire = 1, .eager = 1 << 20};
  const Problem problem{.ranks = 5, .count = 1000, .segment = 100, .window = 8};
  EXPECT_DOUBLE_EQ(time_of(Collective::bcast, "pipelined_chain", problem, Topology::nodes(5, 1), model),
                   (10 + 4 - 1) * 100);
}

TEST(Simulation, RunsEveryAlgorithm) {
  const Model model = simple();
  for (const Algorithm* algorithm : catalogue()) {
    SCOPED_TRACE(std::string(name(algorithm->collective)) + " " + std::string(algorithm->name));
    for (const Rank ranks : {1, 4, 12}) {
      const Topology topology = Topology::nodes(ranks, 4);
      const Problem problem{.ranks = ranks, .count = 100, .segment = 16, .topology = &topology, .room = 4096};
      if (!refusal(*algorithm, problem).empty()) continue;
      const AllRanks all = all_ranks(*algorithm, problem, [](Rank, Rank) { return 100; });
      const Simulated result = simulate(all, 8, topology, model);
      EXPECT_EQ(std::ssize(result.ends), ranks);
      const auto predicted = predict(*algorithm, problem);
      EXPECT_EQ(result.messages, predicted ? predicted->messages : result.messages);
      EXPECT_TRUE(ranks == 1 || result.time() > 0);
    }
  }
}

// What the schedules of all ranks take, they take when each is built in its turn.
TEST(Simulation, NeedsNotAllSchedulesAtOnce) {
  const Model model = simple();
  for (const Algorithm* algorithm : catalogue()) {
    if (traits(algorithm->collective).separate_blocks) continue;
    SCOPED_TRACE(std::string(name(algorithm->collective)) + " " + std::string(algorithm->name));
    for (const Rank ranks : {3, 16}) {
      const Topology topology = Topology::nodes(ranks, 4);
      const Problem problem{.ranks = ranks, .count = 100, .segment = 16, .topology = &topology, .room = 4096};
      if (!refusal(*algorithm, problem).empty()) continue;
      const Simulated at_once = simulate(all_ranks(*algorithm, problem), 8, topology, model);
      EXPECT_EQ(simulate(*algorithm, problem, 8, topology, model).ends, at_once.ends);
    }
  }
}

}  // namespace
}  // namespace quadrille::cost
