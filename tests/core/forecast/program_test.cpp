#include "forecast/program.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "cost/built_in.hpp"

namespace quadrille::forecast {
namespace {

Settings settings_of_a_cluster() {
  Settings settings;
  settings.model = cost::built_in(cost::NetworkKind::bypass);
  return settings;
}

trace::Trace traced() {
  return trace::from_text(
      "quadrille trace 1\n"
      "program ./solver\n"
      "ranks 8\n"
      "communicator 0-7\n"
      "calls allreduce blocking count=1 unit=8 calls=100 bytes=6400 seconds=0.8 longest=0.2\n"
      "calls alltoallv blocking calls=2 bytes=131072 seconds=0.4 longest=0.1\n"
      "blocks 0 1:2:131072\n"
      "calls alltoall blocking neighbours calls=5 bytes=0 seconds=0.1 longest=0.1\n"
      "communicator 0-3\n"
      "calls bcast non-blocking count=1024 calls=10 bytes=10240 seconds=0.004 longest=0.001\n"
      "communicator 4-7\n"
      "calls bcast blocking count=1024 calls=10 bytes=10240 seconds=0.004 longest=0.001\n");
}

const TracedCalls& of(const TracedProgram& program, Collective collective) {
  for (const TracedCalls& one : program.calls) {
    if (one.asked.collective == collective) return one;
  }
  throw std::out_of_range("no such calls");
}

TEST(Program, TakesWhatItsCallsTakeTogether) {
  const Options options{.place = {.per_node = 4}};
  const TracedProgram program = estimate(traced(), settings_of_a_cluster(), options);
  ASSERT_EQ(program.calls.size(), 3U);
  const TracedCalls& sums = of(program, Collective::allreduce);
  EXPECT_EQ(sums.point.nodes, 2);
  EXPECT_DOUBLE_EQ(sums.traced, 0.1);
  EXPECT_DOUBLE_EQ(sums.rank_calls, 100);
  const Point alone = estimate({Collective::allreduce, 8, 8}, settings_of_a_cluster(), options);
  EXPECT_DOUBLE_EQ(sums.point.algorithms.front().time.seconds, alone.algorithms.front().time.seconds);
  double fastest = 0;
  for (const TracedCalls& one : program.calls) {
    fastest += one.rank_calls * one.point.algorithms.front().time.seconds;
  }
  EXPECT_DOUBLE_EQ(program.fastest, fastest);
  EXPECT_GE(program.policies.at(std::string(our_policy)).seconds, 0.999 * program.fastest);
}

// Two halves of the program, each with a communicator of its own: a rank makes the calls of one of them.
TEST(Program, CommunicatorsThatLieAlikeCountTogether) {
  const TracedProgram program = estimate(traced(), settings_of_a_cluster(), {.place = {.per_node = 4}});
  const TracedCalls& halves = of(program, Collective::bcast);
  EXPECT_EQ(halves.calls, 20);
  EXPECT_DOUBLE_EQ(halves.rank_calls, 10);
  EXPECT_EQ(halves.point.nodes, 1);
  const TracedProgram split = estimate(traced(), settings_of_a_cluster(), {.place = {.per_node = 3}});
  EXPECT_EQ(of(split, Collective::bcast).point.nodes, 2);
}

TEST(Program, UnequalBlocksCountAsEqualOnesAndTheRestIsNamed) {
  const TracedProgram program = estimate(traced(), settings_of_a_cluster(), {});
  const TracedCalls& exchange = of(program, Collective::alltoall);
  EXPECT_TRUE(exchange.equal_blocks);
  EXPECT_EQ(exchange.asked.count, 131072 / 2 / 64);
  EXPECT_EQ(program.omitted.at("neighbourhood collectives"), 5);
}

// The root passes in all blocks, the others say what they receive: twice as many bytes as are sent.
TEST(Program, BlocksFromARootCountOnce) {
  const TracedProgram program =
      estimate(trace::from_text("quadrille trace 1\nranks 4\ncommunicator 0-3\n"
                                "calls scatterv blocking root=1 calls=2 bytes=14000 seconds=0.1 longest=0.1\n"
                                "blocks 1 0:2:2000 2:2:2000 3:2:2000\n"
                                "calls gatherv blocking calls=1 bytes=7000 seconds=0.1 longest=0.1\n"
                                "blocks 1 0:1:1000\nblocks 2 0:1:1000\nblocks 3 0:1:1000\n"),
               settings_of_a_cluster(), {});
  EXPECT_EQ(of(program, Collective::scatter).asked.count, 1000);
  EXPECT_EQ(of(program, Collective::gather).asked.count, 1000);
}

TEST(Program, TakesLongerOnASlowerNetwork) {
  Settings slow = settings_of_a_cluster();
  slow.model.network.latency *= 100;
  EXPECT_GT(estimate(traced(), slow, {}).fastest, 5 * estimate(traced(), settings_of_a_cluster(), {}).fastest);
}

}  // namespace
}  // namespace quadrille::forecast
