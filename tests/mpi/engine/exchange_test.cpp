#include "engine/exchange.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "meet/words.hpp"

namespace quadrille::engine {
namespace {

class ExchangeTest : public testing::Test, protected Exchange::Listener {
 protected:
  ExchangeTest() {
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    ground.messages = {.comm = comm, .requests = &requests, .arena = &arena};
    ground.watch = &watch;
  }
  ~ExchangeTest() override {
    if (!littered) PMPI_Comm_free(&comm);
  }

  std::shared_ptr<const Program> program(const Variant& variant, std::int64_t count) const {
    const Problem problem{.rank = rank, .ranks = ranks, .count = count};
    return std::make_shared<const Program>(build(variant.algorithm(), problem));
  }
  void finish() {
    while (ends == 0 && wrong.empty()) requests.poll();
  }

  void advanced() override { ++advances; }
  void done(Exchange&) override { ++ends; }
  void failed(Exchange&, std::exception_ptr error) override {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
      wrong = thrown.what();
    }
  }

  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
  Requests requests;
  Arena arena;
  Watch watch;
  Ground ground;
  int advances = 0;
  int ends = 0;
  std::string wrong;
  bool littered = false;  // messages may be left, for the next communicator with the same number
};

struct Word {
  int rank;
  char text[12];
};

TEST_F(ExchangeTest, APhaseGathersTheWordsOfAllRanks) {
  Word mine{rank, "hello"};
  std::vector<Word> all;
  Exchange exchange(ground, meet::gather_words(program(meet::gathering_words(), sizeof(Word)), mine, all), {}, *this);
  exchange.start(0);
  finish();
  EXPECT_EQ(wrong, "");
  ASSERT_EQ(std::ssize(all), ranks);
  for (int other = 0; other < ranks; ++other) {
    EXPECT_EQ(all[static_cast<std::size_t>(other)].rank, other);
    EXPECT_STREQ(all[static_cast<std::size_t>(other)].text, "hello");
  }
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(arena.in_use(), 0) << "scratch goes back at the end of a run";
}

TEST_F(ExchangeTest, RunsAsOftenAsItIsStarted) {
  const Variant ring = variant_named(Collective::allgather, "ring");
  Exchange exchange(ground, program(ring, sizeof(int)), {}, *this);
  std::vector<int> all(static_cast<std::size_t>(ranks));
  for (int time = 0; time < 3; ++time) {
    int mine = 100 * time + rank;
    exchange.binding().input = meet::as_bytes(&mine, sizeof mine);
    exchange.binding().output = meet::as_bytes(all.data(), std::ssize(all) * static_cast<std::int64_t>(sizeof(int)));
    ends = 0;
    exchange.start(64 * time);
    finish();
    for (int other = 0; other < ranks; ++other) EXPECT_EQ(all[static_cast<std::size_t>(other)], 100 * time + other);
  }
  EXPECT_EQ(wrong, "");
}

// One schedule for all sizes: its lengths are so many times as long.
TEST_F(ExchangeTest, StretchesAScheduleByItsScale) {
  const Variant binomial = variant_named(Collective::bcast, "binomial");
  ASSERT_TRUE(binomial.algorithm().scales);
  Exchange exchange(ground, program(binomial, 1), {}, *this);
  std::vector<char> data(1000, rank == 0 ? 'a' : 'b');
  exchange.binding().output = meet::as_bytes(data.data(), std::ssize(data));
  exchange.binding().scale = 1000;
  exchange.start(0);
  const std::vector<std::string> awaited = exchange.awaited();
  if (rank != 0) {
    ASSERT_EQ(awaited.size(), ends == 0 ? 1U : 0U);
    for (const std::string& one : awaited) EXPECT_NE(one.find("all lengths times 1000"), std::string::npos) << one;
  }
  finish();
  EXPECT_EQ(data, std::vector<char>(1000, 'a'));
}

TEST_F(ExchangeTest, LeavesCollectivesAmongLeadersToTheMpi) {
  ground.leaders = comm;
  const Group leaders = Group::all(ranks);
  Builder builder(rank, ranks, Unit::elements);
  const Region data{.buffer = quadrille::Buffer::output, .length = 5};
  builder.offload_allreduce(leaders, data.part(0, 2));
  builder.offload_barrier(leaders);
  builder.offload_allreduce(leaders, data.part(2, 3));
  Exchange exchange(ground, std::make_shared<const Program>(builder.finish()), {}, *this);
  const Layout doubles = Layout::basic(sizeof(double));
  exchange.set_element(doubles);
  exchange.set_operation({MPI_SUM, MPI_DOUBLE});
  for (int time = 0; time < 3; ++time) {
    std::vector<double> values = {1.0 + rank, 2, 3, 4, 5.0 * rank};
    exchange.binding().output = {Typed{reinterpret_cast<std::byte*>(values.data()), 5, &doubles}};
    ends = 0;
    exchange.start(0);
    finish();
    const double n = ranks;
    const double sum = n * (n - 1) / 2;
    EXPECT_EQ(values, (std::vector<double>{n + sum, 2 * n, 3 * n, 4 * n, 5 * sum}));
  }
  EXPECT_EQ(wrong, "");
}

TEST_F(ExchangeTest, WhatIsCancelledGivesItsMemoryBackAndIsNotHeardOf) {
  if (ranks == 1) return;
  littered = true;
  // It waits for the others, who never come.
  const Variant bruck = meet::gathering_words();
  Exchange exchange(ground, program(bruck, 100), {}, *this);
  std::vector<char> mine(100);
  std::vector<char> all(static_cast<std::size_t>(100 * ranks));
  exchange.binding().input = meet::as_bytes(mine.data(), std::ssize(mine));
  exchange.binding().output = meet::as_bytes(all.data(), std::ssize(all));
  if (rank == 0) {
    exchange.start(0);
    EXPECT_EQ(ends, 0);
    exchange.cancel();
    EXPECT_EQ(ends, 0);
    EXPECT_EQ(wrong, "");
    EXPECT_EQ(arena.in_use(), 0);
  }
}

TEST_F(ExchangeTest, AFunctionThatThrowsFailsTheRun) {
  littered = true;
  // Of two ranks each reduces.
  if (ranks < 2 || rank > 1) return;
  ranks = 2;
  const Variant doubling = variant_named(Collective::allreduce, "recursive_doubling");
  Exchange exchange(ground, program(doubling, 1), {}, *this);
  const Layout element = Layout::basic(sizeof(int));
  exchange.set_element(element);
  int mine = 1;
  int sum = 0;
  exchange.binding().input = {{reinterpret_cast<std::byte*>(&mine), 1, &element}};
  exchange.binding().output = {{reinterpret_cast<std::byte*>(&sum), 1, &element}};
  exchange.binding().reduce = [](const void*, void*, std::int64_t) { throw std::runtime_error("no such sum"); };
  exchange.start(0);
  finish();
  EXPECT_EQ(wrong, "no such sum");
  EXPECT_EQ(ends, 0);
}

}  // namespace
}  // namespace quadrille::engine
