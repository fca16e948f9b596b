#include "trace/trace.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

namespace quadrille::trace {
namespace {

std::string text_of(const std::vector<Rank>& list) {
  return Ranks(list).text();
}

TEST(Ranks, AreWrittenAsRuns) {
  EXPECT_EQ(text_of({}), "none");
  EXPECT_EQ(text_of({3}), "3");
  EXPECT_EQ(text_of({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(text_of({0, 4, 8, 12}), "0-12:4");
  EXPECT_EQ(text_of({3, 2, 1}), "3,2,1");
  EXPECT_EQ(text_of({0, 5, 6, 7}), "0,5-7");
  EXPECT_EQ(text_of({1, 3, 0, 2}), "1,3,0,2");
}

TEST(Ranks, ComeBackFromTheirText) {
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Rank> list(random() % 12);
    for (Rank& one : list) one = static_cast<Rank>(random() % 20);
    const Ranks ranks(list);
    EXPECT_EQ(ranks.list(), list);
    EXPECT_EQ(ranks.size(), static_cast<Rank>(list.size()));
    EXPECT_EQ(Ranks::parse(ranks.text()), ranks) << ranks.text();
  }
}

TEST(Ranks, ThatMakeNoSenseAreRefused) {
  for (const char* text : {"", "x", "1-", "5-2", "0-7:3", "0-7:0", "1,,2", "0-3 4", "0-2147483647"}) {
    EXPECT_THROW(Ranks::parse(text), std::invalid_argument) << text;
  }
}

// What rank `rank` of four recorded.
Trace of_rank(Rank rank) {
  Trace trace;
  trace.ranks = 4;
  trace.times[rank] = {10, {1, 2, 0.5, 0, 3}};
  trace.messages[rank][(rank + 1) % 4] = {10, 4000};
  const Communicator all{Ranks(std::vector<Rank>{0, 1, 2, 3})};
  trace.collectives[all][{.collective = Collective::allreduce, .count = 4, .unit_bytes = 8}] = {100, 3200, 0.25, 0.25};
  Calls exchange{5, 40, 0.5, 0.5};
  exchange.blocks[rank][(rank + 2) % 4] = {5, 40};
  trace.collectives[all][{.collective = Collective::alltoallv}] = exchange;
  return trace;
}

Trace of_all() {
  Trace trace = of_rank(0);
  for (Rank rank = 1; rank < 4; ++rank) trace.merge(of_rank(rank));
  return trace;
}

TEST(Trace, OfAllRanksHasEachCallOnceAndEachMessage) {
  const Trace trace = of_all();
  EXPECT_EQ(trace::sum_of(trace.messages), (Traffic{40, 16000}));
  ASSERT_EQ(trace.collectives.size(), 1);
  const auto& kinds = trace.collectives.begin()->second;
  const Calls& sums = kinds.at({.collective = Collective::allreduce, .count = 4, .unit_bytes = 8});
  EXPECT_EQ(sums.calls, 100);
  EXPECT_EQ(sums.bytes, 12800);
  EXPECT_DOUBLE_EQ(sums.seconds, 1);
  EXPECT_DOUBLE_EQ(sums.longest, 0.25);
  EXPECT_EQ(kinds.at({.collective = Collective::alltoallv}).blocks.at(3).at(1), (Traffic{5, 40}));
  EXPECT_EQ(trace.calls(), 420);
  EXPECT_DOUBLE_EQ(trace.mean_outside(), 3.5);
}

TEST(Trace, ComesBackFromItsText) {
  Trace trace = of_all();
  trace.program = "lmp -in a file";
  trace.mpi = "Open MPI v4.1.4";
  trace.collectives[{Ranks(std::vector<Rank>{0, 2}), Ranks(std::vector<Rank>{1, 3})}][{.collective = Collective::bcast,
                                                                                       .form = Form::non_blocking,
                                                                                       .neighbours = false,
                                                                                       .in_place = true,
                                                                                       .commutative = false,
                                                                                       .rounded = true,
                                                                                       .root = 1,
                                                                                       .count = 77}] = {1, 2, 3, 4,
                                                                                                        0.25};
  trace.messages[2][another_world] = {1, 8};
  const std::string text = to_text(trace);
  const Trace again = from_text(text);
  EXPECT_EQ(to_text(again), text);
  EXPECT_EQ(again.program, trace.program);
  EXPECT_EQ(again.collectives.size(), 2);
  EXPECT_EQ(again.messages, trace.messages);
  EXPECT_DOUBLE_EQ(again.waited(), 0.25);
}

// Of ranks of another world, or one of more communicators than are told apart.
TEST(Trace, ACommunicatorThatIsNotKnownMayHaveBlocks) {
  Trace trace = of_all();
  trace.collectives[{Ranks()}][{.collective = Collective::alltoallv, .root = 0}] = {
      .calls = 2, .bytes = 16, .blocks = {{3, {{7, {2, 16}}}}}};
  EXPECT_EQ(to_text(from_text(to_text(trace))), to_text(trace));
}

// A program that calls the same again and again has a trace that hardly grows: only its numbers get longer.
TEST(Trace, DoesNotGrowWithCalls) {
  Trace few = of_all();
  Trace many = of_all();
  for (auto& [communicator, kinds] : many.collectives) {
    for (auto& [kind, calls] : kinds) calls.calls *= 1'000'000;
  }
  for (auto& [from, row] : many.messages) {
    for (auto& [to, traffic] : row) traffic = {traffic.messages * 1'000'000, traffic.bytes * 1'000'000};
  }
  EXPECT_LT(to_text(many).size(), to_text(few).size() + 200);
}

TEST(Trace, ThatCantBeReadSaysWhere) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      from_text(text);
    } catch (const std::invalid_argument& invalid) {
      return invalid.what();
    }
    return "none";
  };
  EXPECT_EQ(error("{}"), "no trace of quadrille");
  EXPECT_EQ(error("quadrille trace 2\n"), "a trace of another version than 1");
  EXPECT_EQ(error("quadrille trace 1\nranks 2\nmessages 0 x:1:1\n"), "line 3: 'x' is not a number");
  EXPECT_EQ(error("quadrille trace 1\nranks 2\nmessages 0 2:1:1\n"), "rank 2 of 2");
  EXPECT_EQ(error("quadrille trace 1\nranks 2\ncommunicator 2147483647\n"), "line 3: 2147483647 is no rank");
  const std::string two = "quadrille trace 1\nranks 2\ncommunicator 0-1\n";
  EXPECT_EQ(error(two + "calls gather blocking root=2 calls=1\n"), "rank 2 of 2");
  EXPECT_EQ(error(two + "calls bcast blocking count=-8 calls=1\n"), "-8 is no count of a call");
  EXPECT_EQ(error(two + "calls alltoallv blocking calls=1\nblocks 0 -1:1:8\n"), "rank -1 of 2");
  EXPECT_EQ(error("quadrille trace 1\nranks 2\ncalls bcast blocking\n"),
            "line 3: calls without a communicator before them");
  EXPECT_EQ(error("quadrille trace 1\nranks 2\ncommunicator 0-1\nblocks 0 1:1:1\n"),
            "line 4: blocks without calls before them");
  EXPECT_EQ(error("quadrille trace 1\nranks 2\ncommunicator 0-9\n"), "a communicator of more ranks than there are");
  EXPECT_EQ(error("quadrille trace 1\n"), "a trace without ranks");
}

TEST(Kind, IsRoundedToThreeBits) {
  const auto rounded = [](std::int64_t count) { return Kind{.count = count}.coarser().count; };
  EXPECT_EQ(rounded(0), 0);
  EXPECT_EQ(rounded(7), 7);
  EXPECT_EQ(rounded(9), 8);
  EXPECT_EQ(rounded(1023), 896);
  EXPECT_EQ(rounded(1024), 1024);
}

}  // namespace
}  // namespace quadrille::trace
