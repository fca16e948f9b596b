#include "schedule/builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace quadrille {
namespace {

const Region data{.buffer = Buffer::output, .length = 100};

std::vector<Dependency> dependencies(const Schedule& schedule, int operation) {
  const auto list = schedule.dependencies_of(schedule.operations[static_cast<std::size_t>(operation)]);
  return {list.begin(), list.end()};
}

TEST(Builder, AReadDependsOnTheWrite) {
  Builder builder(0, 4, Unit::bytes);
  builder.receive(1, data.part(0, 10));
  builder.receive(2, data.part(10, 10));
  builder.send(3, data.part(5, 10));
  EXPECT_EQ(dependencies(builder.finish(), 2), (std::vector<Dependency>{{0, 0, false}, {1, 0, false}}));
}

TEST(Builder, ReadsOfTheSameDataAreIndependent) {
  Builder builder(0, 4, Unit::bytes);
  builder.send(1, data);
  builder.send(2, data);
  EXPECT_TRUE(dependencies(builder.finish(), 1).empty());
}

TEST(Builder, AWriteDependsOnEarlierReads) {
  Builder builder(0, 4, Unit::bytes);
  builder.send(1, data.part(0, 10));
  builder.send(2, data.part(20, 10));
  builder.receive(3, data.part(0, 10));
  EXPECT_EQ(dependencies(builder.finish(), 2), (std::vector<Dependency>{{0, 0, false}}));
}

TEST(Builder, MessagesOfOneStreamArePostedInOrder) {
  Builder builder(0, 2, Unit::bytes);
  builder.send(1, data.part(0, 10));
  builder.send(1, data.part(10, 10));
  builder.use_channel(1);
  builder.send(1, data.part(20, 10));
  const Schedule schedule = builder.finish(2);
  EXPECT_EQ(dependencies(schedule, 1), (std::vector<Dependency>{{0, 0, true}}));
  EXPECT_TRUE(dependencies(schedule, 2).empty());
}

TEST(Builder, AFenceDependsOnEverythingBeforeAndPrecedesEverythingAfter) {
  Builder builder(0, 3, Unit::bytes);
  builder.send_signal(1);
  builder.receive_signal(2);
  builder.fence();
  builder.send_signal(2);
  const Schedule schedule = builder.finish();
  EXPECT_EQ(schedule.operations[2].kind, Kind::join);
  EXPECT_EQ(dependencies(schedule, 2), (std::vector<Dependency>{{0, 0, false}, {1, 0, false}}));
  EXPECT_EQ(dependencies(schedule, 3), (std::vector<Dependency>{{2, 0, false}}));
}

TEST(Builder, AFenceInALoopHoldsInEachIteration) {
  Builder builder(0, 3, Unit::bytes);
  builder.send_signal(1);
  builder.for_each_segment(100, 10, 4, [&](const Segment&) {
    builder.receive_signal(1);
    builder.fence();
    builder.send_signal(2);
  });
  builder.receive_signal(2);
  const Schedule schedule = builder.finish();
  EXPECT_EQ(dependencies(schedule, 2), (std::vector<Dependency>{{0, 0, false}, {1, 0, false}}));
  EXPECT_EQ(dependencies(schedule, 3), (std::vector<Dependency>{{2, 0, false}}));
  EXPECT_EQ(dependencies(schedule, 4), (std::vector<Dependency>{{2, 0, false}}));
}

TEST(Builder, EmptyDataIsOmittedButSignalsAreNot) {
  Builder builder(0, 2, Unit::bytes);
  builder.send(1, data.part(3, 0));
  builder.copy(data.part(3, 0), data.part(4, 0));
  builder.copy(data, data);
  builder.send_signal(1);
  EXPECT_EQ(builder.finish().operations.size(), 1U);
}

TEST(Builder, AScratchRingIsReusedOnlyWhenItsLastUserIsDone) {
  Builder builder(0, 2, Unit::bytes);
  Region ring = builder.scratch(20);
  builder.for_each_segment(100, 10, 4, [&](const Segment& segment) {
    Region slot = ring.part(0, 10);
    slot.stride = 10;
    slot.cycle = 2;
    builder.receive(1, slot);
    builder.copy(slot, segment.of(data));
  });
  const Schedule schedule = builder.finish();
  ASSERT_EQ(schedule.operations.size(), 2U);
  const auto receive = dependencies(schedule, 0);
  EXPECT_NE(std::find(receive.begin(), receive.end(), Dependency{1, 2, false}), receive.end());
  EXPECT_EQ(std::count_if(receive.begin(), receive.end(), [](const Dependency& d) { return d.distance % 2 == 1; }), 0);
}

TEST(Builder, SegmentsWithEqualStridesDependOnlyWithinAnIteration) {
  Builder builder(0, 3, Unit::bytes);
  builder.for_each_segment(100, 10, 4, [&](const Segment& segment) {
    builder.receive(1, segment.of(data));
    builder.send(2, segment.of(data));
  });
  const Schedule schedule = builder.finish();
  EXPECT_EQ(schedule.loops.front().iterations, 10);
  EXPECT_TRUE(dependencies(schedule, 0).empty());
  EXPECT_EQ(dependencies(schedule, 1), (std::vector<Dependency>{{0, 0, false}}));
}

TEST(Builder, TheRestOfALoopIsASeparateSegment) {
  Builder builder(0, 2, Unit::bytes);
  builder.for_each_segment(100, 30, 4, [&](const Segment& segment) { builder.send(1, segment.of(data)); });
  const Schedule schedule = builder.finish();
  ASSERT_EQ(schedule.operations.size(), 2U);
  EXPECT_EQ(schedule.regions[1].offset, 90);
  EXPECT_EQ(schedule.regions[1].length, 10);
}

TEST(Builder, SegmentsAreNotDividedAgain) {
  Builder builder(0, 2, Unit::bytes);
  builder.for_each_segment(100, 10, 4, [&](const Segment& outer) {
    const Region piece = outer.of(data);
    builder.for_each_segment(10, 3, 4, [&](const Segment& inner) { builder.send(1, inner.of(piece)); });
  });
  const Schedule schedule = builder.finish();
  ASSERT_EQ(schedule.operations.size(), 1U);
  EXPECT_EQ(schedule.regions[0].length, 10);
  EXPECT_EQ(schedule.regions[0].stride, 10);
}

TEST(Builder, PeersAreRanksOfTheInnermostGroup) {
  const Group even = Group::strided(0, 2, 4);
  const Group outer_two = Group::of({3, 1});  // ranks 6 and 2 of the communicator
  Builder builder(6, 8, Unit::bytes);
  builder.within(even, 1, [&] {
    EXPECT_EQ(builder.rank(), 3);
    builder.send(0, data);
    builder.within(outer_two, 1, [&] {
      EXPECT_EQ(builder.rank(), 0);
      EXPECT_EQ(builder.ranks(), 2);
      builder.send(1, data);
    });
  });
  const Schedule schedule = builder.finish(3);
  EXPECT_EQ(schedule.operations[0].peer, 0);
  EXPECT_EQ(schedule.operations[0].channel, 1);
  EXPECT_EQ(schedule.operations[1].peer, 2);
  EXPECT_EQ(schedule.operations[1].channel, 2);
}

TEST(Builder, LaterAccessesDependOnTheFlushOfAPut) {
  Builder builder(0, 2, Unit::bytes);
  builder.put(1, data, builder.slot_of(1, 0, 100));
  builder.flush(1);
  builder.receive(1, data);
  const Schedule schedule = builder.finish();
  const auto list = dependencies(schedule, 2);
  EXPECT_NE(std::find(list.begin(), list.end(), Dependency{1, 0, false}), list.end());
}

TEST(Builder, OffloadedCollectivesArePostedInOrderAndAfterTheirData) {
  Builder builder(2, 4, Unit::elements);
  const Group leaders = Group::of({2, 0});
  builder.receive(3, data.part(0, 4));
  builder.offload_allreduce(leaders, data.part(0, 4));
  builder.offload_allreduce(leaders, data.part(4, 4));
  builder.offload_barrier(Group::of({2}));
  EXPECT_THROW(builder.offload_barrier(Group::of({2, 1})), std::logic_error);
  const Schedule schedule = builder.finish();
  EXPECT_EQ(schedule.offload, (std::vector<Rank>{0, 2}));
  ASSERT_EQ(schedule.operations.size(), 3U) << "a barrier of one rank is nothing";
  const auto dependencies = [&](std::size_t of) { return schedule.dependencies_of(schedule.operations[of]); };
  ASSERT_EQ(dependencies(1).size(), 1U);
  EXPECT_EQ(dependencies(1)[0], (Dependency{0, 0, false}));
  ASSERT_EQ(dependencies(2).size(), 1U);
  EXPECT_EQ(dependencies(2)[0], (Dependency{1, 0, true}));
  EXPECT_EQ(malformed(schedule), "");
  EXPECT_EQ(from_json(to_json(schedule)), schedule);
  Schedule others = schedule;
  others.offload = {0, 1};
  EXPECT_EQ(malformed(others), "operation 1: offload among other ranks than declared");
}

TEST(Builder, InOrderReachesFromOneIterationToTheNext) {
  Builder builder(0, 2, Unit::bytes);
  builder.counters(2, 10);
  builder.in_order([&] {
    builder.for_each_segment(100, 10, 4, [&](const Segment&) {
      builder.wait(1, 0, 1, 1);
      builder.publish(1, 1, 1);
    });
  });
  const auto first = dependencies(builder.finish(), 0);
  EXPECT_NE(std::find(first.begin(), first.end(), Dependency{1, 1, false}), first.end());
}

TEST(Builder, DependenciesCanBeAddedExplicitly) {
  Builder builder(0, 3, Unit::bytes);
  const Added first = builder.send_signal(1);
  builder.after(builder.send_signal(2), {first});
  EXPECT_EQ(dependencies(builder.finish(), 1), (std::vector<Dependency>{{0, 0, false}}));
}

TEST(Builder, LoopsOverTheSameScratchTakeLinearMemory) {
  const auto bytes = [](int loops) {
    Builder builder(0, 2, Unit::bytes);
    const Region scratch = builder.scratch(8);
    for (int i = 0; i < loops; ++i) {
      const Region block{.buffer = Buffer::input, .block = i};
      builder.for_each_chunk(block, 8, 2, [&](const Segment& chunk) {
        Region bounce = chunk.of(scratch);
        bounce.stride = 0;
        builder.copy(chunk.of(block), bounce);
        builder.send(1, bounce);
      });
    }
    return builder.finish().bytes();
  };
  EXPECT_LT(bytes(400), 5 * bytes(100));
}

TEST(Builder, MisuseIsReported) {
  Builder builder(0, 2, Unit::bytes);
  EXPECT_THROW(builder.for_each_chunk(data, 2, 4, [](const Segment&) {}), std::invalid_argument);
  EXPECT_THROW(builder.for_each_segment(10, 2, 65, [](const Segment&) {}), std::invalid_argument);
  const auto nested = [&](const Segment&) { builder.for_each_chunk({}, 2, 4, [](const Segment&) {}); };
  EXPECT_THROW(builder.for_each_segment(10, 2, 4, nested), std::logic_error);
}

}  // namespace
}  // namespace quadrille
