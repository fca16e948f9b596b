#include "schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "schedule/builder.hpp"
#include "schedule/index.hpp"

namespace quadrille {
namespace {

// One of everything.
Schedule sample() {
  Builder builder(1, 4, Unit::bytes);
  builder.counters(2, 9);
  builder.notices(2, 3);
  const Region box = builder.box(32);
  const Region whole{.buffer = Buffer::output, .length = 64};
  const Region slot = builder.slot(16);
  Region bounce = builder.scratch(16);
  builder.receive(0, whole);
  builder.reduce(Region{.buffer = Buffer::input, .length = 64}, whole, whole);
  builder.for_each_segment(64, 8, 4, [&](const Segment& segment) {
    builder.in_order([&] {
      builder.wait(2, 1, 0, 1);
      Region half = slot.part(0, 8);
      half.stride = 8;
      half.cycle = 2;
      builder.copy(segment.of(whole), half);
      builder.publish(0, 1, 1);
    });
  });
  builder.for_each_chunk(Region{.buffer = Buffer::input, .block = 3}, 8, 2, [&](const Segment& segment) {
    Region out = segment.of(bounce);
    out.cycle = 2;
    builder.copy(segment.of(Region{.buffer = Buffer::input, .block = 3}), out);
    builder.send(3, out);
  });
  builder.put(2, whole, builder.at(2, whole));
  builder.flush(2);
  builder.notify(2, 0, 1);
  builder.await(1, 3);
  builder.get(0, builder.at(0, whole), whole);
  builder.collect(box, whole.part(0, 32));
  builder.deposit(3, whole.part(0, 32), box);
  builder.staging(1, 32);
  const Region staged{.buffer = Buffer::staging, .length = 32};
  builder.await(3, -1);
  builder.put(2, whole.part(0, 32), builder.at(2, staged));
  builder.flush(2);
  builder.notify(2, 2, 1);
  builder.copy(staged, whole.part(32, 32));
  builder.fence();
  builder.send_signal(0);
  return builder.finish();
}

TEST(Schedule, IsWellFormedWhenTheBuilderIsDone) {
  EXPECT_EQ(malformed(sample()), "");
}

TEST(Schedule, SurvivesAJsonRoundTrip) {
  EXPECT_EQ(from_json(to_json(sample())), sample());
}

TEST(Schedule, InvalidJsonIsRejectedWithAReason) {
  EXPECT_THROW(from_json("{}"), std::invalid_argument);
  EXPECT_THROW(from_json("not json"), std::invalid_argument);
  std::string text = to_json(sample());
  text.replace(text.find("\"receive\""), 9, "\"fetch\"");
  EXPECT_THROW(from_json(text), std::invalid_argument);
  std::string peer = to_json(sample());
  peer.replace(peer.find("\"peer\":0"), 8, "\"peer\":9");
  EXPECT_THROW(from_json(peer), std::invalid_argument);
}

TEST(Schedule, ReadsLikeAListing) {
  Builder builder(1, 4, Unit::elements);
  const Region whole{.buffer = Buffer::output, .length = 100};
  builder.for_each_segment(100, 30, 4, [&](const Segment& segment) {
    builder.receive(0, segment.of(whole));
    builder.send(2, segment.of(whole));
  });
  EXPECT_EQ(to_text(builder.finish()),
            "rank 1 of 4, in elements\n"
            "  loop k, 3 times, 4 in flight\n"
            "    0 receive from 0 output[30k:30 + 30k]\n"
            "    1 send to 2 output[30k:30 + 30k]  after 0\n"
            "  2 receive from 0 output[90:100]  after 0 posted\n"
            "  3 send to 2 output[90:100]  after 1 posted, 2\n");
}

TEST(Schedule, EveryStructuralErrorIsNamed) {
  const auto expect = [](std::string_view words, auto&& damage) {
    Schedule schedule = sample();
    damage(schedule);
    EXPECT_NE(malformed(schedule).find(words), std::string::npos) << words << "; it says: " << malformed(schedule);
  };
  const auto first = [](Schedule& s, Kind kind) -> Operation& {
    return *std::find_if(s.operations.begin(), s.operations.end(), [&](const Operation& o) { return o.kind == kind; });
  };
  expect("no such peer", [](Schedule& s) { s.operations[0].peer = 4; });
  expect("to itself", [](Schedule& s) { s.operations[0].peer = 1; });
  expect("a peer of a local operation", [&](Schedule& s) { first(s, Kind::await).peer = 2; });
  expect("outside the declared", [](Schedule& s) { s.operations[0].channel = 1; });
  expect("takes 3 regions", [](Schedule& s) { s.operations[1].regions = 2; });
  expect("before the start of its block", [](Schedule& s) { s.regions[0].offset = -1; });
  expect("other than a slot", [](Schedule& s) { s.regions[0].owner = 2; });
  expect("outside a loop", [](Schedule& s) { s.regions[0].stride = 8; });
  expect("outside a chunk loop", [](Schedule& s) { s.regions[0].clipped = true; });
  expect("overflowing offset", [](Schedule& s) { s.regions[0].offset = std::numeric_limits<std::int64_t>::max() - 4; });
  expect("negative stride",
         [](Schedule& s) { s.regions[static_cast<std::size_t>(s.operations[3].first_region)].stride = -8; });
  expect("on a nonexistent operation", [](Schedule& s) { s.dependencies.back().operation = 100; });
  expect("later operation",
         [](Schedule& s) { s.dependencies.back().operation = static_cast<std::int32_t>(s.operations.size()) - 1; });
  expect("from 1 to 64", [](Schedule& s) { s.loops[0].window = 65; });
  expect("without iterations", [](Schedule& s) { s.loops[0].iterations = 0; });
  expect("outside the schedule", [](Schedule& s) { s.loops[0].last = s.loops[0].first; });
  expect("operations of another loop", [](Schedule& s) { s.operations[3].loop = -1; });
  expect("part of a block", [](Schedule& s) { s.loops[1].over.length = 4; });
  expect("counter outside", [](Schedule& s) { s.counters = 1; });
  expect("beyond its increment", [](Schedule& s) { s.counter_span = 2; });
  expect("its initial value or less", [&](Schedule& s) { first(s, Kind::publish).value = 0; });
  expect("counter outside", [](Schedule& s) { s.notices = 1; });
  expect("beyond its increment", [](Schedule& s) { s.notice_span = 2; });
  const auto region = [&](Schedule& s, Kind kind, std::int32_t operand) -> Region& {
    return s.regions[static_cast<std::size_t>(first(s, kind).first_region + operand)];
  };
  expect("put needs an output of the peer's", [&](Schedule& s) { region(s, Kind::put, 1).owner = 3; });
  expect("get needs an output of the peer's", [&](Schedule& s) { region(s, Kind::get, 0).buffer = Buffer::slot; });
  expect("deposit needs a box of the peer's", [&](Schedule& s) { region(s, Kind::deposit, 1).owner = self; });
  expect("for deposit and collect alone", [&](Schedule& s) { region(s, Kind::collect, 0).buffer = Buffer::input; });
  expect("for deposit and collect alone", [&](Schedule& s) { region(s, Kind::put, 0) = region(s, Kind::collect, 0); });
  expect("tells of another box", [&](Schedule& s) { s.boxes.push_back(1), first(s, Kind::deposit).counter = 1; });
  expect("outside its place in staging", [](Schedule& s) { s.staging[0] = 31; });
  expect("counter outside", [](Schedule& s) { s.staging.clear(); });
  expect("copies out of one's own", [&](Schedule& s) {
    region(s, Kind::reduce, 0) = region(s, Kind::copy, 0) = {.buffer = Buffer::staging, .length = 64};
  });
  expect("undeclared block", [](Schedule& s) { s.slots.clear(); });
  expect("undeclared block", [](Schedule& s) { s.scratch.clear(); });
  expect("outside its block", [](Schedule& s) { s.slots[0] = 15; });
  expect("overlapping", [](Schedule& s) { s.regions[1] = s.regions[2].part(0, 32); });
}

TEST(Schedule, DoesNotGrowWithTheBytes) {
  const auto bytes = [](std::int64_t length) {
    Builder builder(1, 3, Unit::bytes);
    const Region whole{.buffer = Buffer::output, .length = length};
    builder.for_each_segment(length, 1 << 16, 4, [&](const Segment& segment) {
      builder.receive(0, segment.of(whole));
      builder.send(2, segment.of(whole));
    });
    return builder.finish().bytes();
  };
  EXPECT_EQ(bytes(1 << 20), bytes(1 << 30));
}

TEST(Group, TranslatesBothWays) {
  const Group strided = Group::strided(3, 4, 5);
  const Group listed = Group::of({7, 2, 9});
  EXPECT_EQ(strided[2], 11);
  EXPECT_EQ(strided.index_of(11), 2);
  EXPECT_FALSE(strided.index_of(12).has_value());
  EXPECT_FALSE(strided.index_of(23).has_value());
  EXPECT_EQ(listed[1], 2);
  EXPECT_EQ(listed.index_of(9), 2);
  EXPECT_FALSE(listed.index_of(3).has_value());
}

TEST(Index, NumbersKeysInInsertionOrder) {
  Index<2> index;
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t count : {5, 1000}) {
      index.clear();
      for (std::int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(index.find({i % 7, i}), -1);
        EXPECT_EQ(index.add({i % 7, i}), i);
        EXPECT_EQ(index.add({i % 7, i}), i);
      }
      for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(index.find({i % 7, i}), i);
      EXPECT_EQ(index.find({0, -1}), -1);
      EXPECT_EQ(index.size(), static_cast<std::size_t>(count));
    }
  }
}

}  // namespace
}  // namespace quadrille
