// Collectives through windows of MPI. QUADRILLE_BROADCASTS says how many broadcasts follow one another in the longest
// test.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "api/world.hpp"

namespace quadrille::test {

namespace {

constexpr std::byte untouched{0xA5};

// Fewer where ranks share cores: inside MPI a rank that waits for another keeps its core for a turn.
int rounds_on(int ranks, int most) {
  return std::max(20, most / (ranks * ranks));
}

std::vector<std::string> one_sided_algorithms(Collective collective) {
  std::vector<std::string> names;
  for (const Algorithm* one : catalogue()) {
    if (one->collective == collective && one->restrictions.exposed) names.emplace_back(one->name);
  }
  return names;
}

std::byte byte_of(int round, int root, std::int64_t at) {
  return static_cast<std::byte>((round * 31 + root * 7 + at * 13 + (at >> 8)) & 0xFF);
}

// Fills this rank's memory with what it is to send, if it is the root, and with nothing else.
void prepare(const Window& window, int rank, int root, int round, std::int64_t offset, std::int64_t count) {
  std::fill_n(window.data(), window.size(), untouched);
  for (std::int64_t i = 0; rank == root && i < count; ++i) window.data()[offset + i] = byte_of(round, root, i);
}

// How many bytes are wrong, those around the range among them.
std::int64_t wrong(const Window& window, int root, int round, std::int64_t offset, std::int64_t count) {
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < window.size(); ++i) {
    const bool inside = i >= offset && i < offset + count;
    bytes += window.data()[i] != (inside ? byte_of(round, root, i - offset) : untouched) ? 1 : 0;
  }
  return bytes;
}

TEST(Windows, EveryAlgorithmMovesEveryByteAndNoOther) {
  Communicator comm = world({{"QUADRILLE_SEGMENT", "1000"}});
  Window window = Window::allocate(comm, 20000);
  ASSERT_TRUE(window.one_sided()) << window.transport();
  int round = 0;
  for (const std::string& algorithm : one_sided_algorithms(Collective::bcast)) {
    for (const std::int64_t count : {0, 1, 3, 4, 5, 1023, 1024, 1025, 4000, 12345}) {
      for (const bool blocking : {true, false}) {
        const int root = round % comm.size();
        // Nobody may write to memory that is still being checked: a rank hands it over by its call.
        prepare(window, comm.rank(), root, round, 17, count);
        if (blocking) {
          window.bcast(root, 17, count, {.algorithm = algorithm});
        } else {
          window.ibcast(root, 17, count, {.algorithm = algorithm}).wait();
        }
        EXPECT_EQ(wrong(window, root, round, 17, count), 0) << algorithm << ", " << count << " bytes from " << root;
        ++round;
      }
    }
  }
}

TEST(Windows, BlocksOfAllRanksAreGathered) {
  Communicator comm = world();
  Window window = Window::allocate(comm, 30000);
  int round = 0;
  for (const char* algorithm : {"", "one_sided_linear", "one_sided_ring", "ring"}) {
    for (const std::int64_t count : {0, 1, 5, 36, 150, 4000}) {
      for (const bool blocking : {true, false}) {
        std::fill_n(window.data(), window.size(), untouched);
        for (std::int64_t i = 0; i < count; ++i) {
          window.data()[8 + comm.rank() * count + i] = byte_of(round, comm.rank(), i);
        }
        if (blocking) {
          window.allgather(8, count, {.algorithm = algorithm});
        } else {
          window.iallgather(8, count, {.algorithm = algorithm}).wait();
        }
        std::int64_t errors = 0;
        for (std::int64_t i = 0; i < count * comm.size(); ++i) {
          const auto rank = static_cast<int>(i / count);
          errors += window.data()[8 + i] != byte_of(round, rank, i % count) ? 1 : 0;
        }
        errors += window.data()[7] != untouched || window.data()[8 + count * comm.size()] != untouched ? 1 : 0;
        EXPECT_EQ(errors, 0) << algorithm << ", " << count << " bytes";
        ++round;
      }
    }
  }
}

// Who is late is heard of by all.
TEST(Windows, NobodyLeavesABarrierBeforeAllHaveCome) {
  Communicator comm = world();
  Window window = Window::allocate(comm, 0);
  for (int late = 0; late < comm.size(); ++late) {
    comm.barrier();
    if (comm.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    // All ranks are on one node, and have one clock.
    const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
    const std::vector<std::int64_t> came{now()};
    window.barrier();
    const std::int64_t left = now();
    std::vector<std::int64_t> all(static_cast<std::size_t>(comm.size()));
    comm.allgather(came, all);
    EXPECT_GE(left, *std::max_element(all.begin(), all.end()));
  }
  for (int round = 0; round < rounds_on(comm.size(), 200); ++round) {
    window.barrier();
    window.ibarrier().wait();
  }
}

TEST(Windows, ManyShortBroadcastsFollowOneAnotherWithoutABarrier) {
  Communicator comm = world();
  Window window = Window::allocate(comm, 64);
  const char* asked = std::getenv("QUADRILLE_BROADCASTS");
  const int rounds = asked ? std::atoi(asked) : rounds_on(comm.size(), 4000);
  std::int64_t errors = 0;
  for (int round = 0; round < rounds; ++round) {
    const int root = round % comm.size();
    const std::int64_t count = 1 + round % 61;
    prepare(window, comm.rank(), root, round, 3, count);
    window.bcast(root, 3, count);
    errors += wrong(window, root, round, 3, count);
  }
  EXPECT_EQ(errors, 0);
}

// Short and long ones, pushed and pulled, through the same memory.
TEST(Windows, WaysToTransferFollowOneAnother) {
  Communicator comm = world({{"QUADRILLE_SEGMENT", "2000"}});
  Window window = Window::allocate(comm, 9000);
  for (int round = 0; round < rounds_on(comm.size(), 600); ++round) {
    const int root = (round * 5 + round / 7) % comm.size();
    const std::int64_t count = round % 3 == 0 ? 8 : round % 3 == 1 ? 1500 : 8900;
    prepare(window, comm.rank(), root, round, 0, count);
    if (round % 2 == 0) {
      window.bcast(root, 0, count);
    } else {
      window.ibcast(root, 0, count).wait();
    }
    const std::int64_t bytes = wrong(window, root, round, 0, count);
    EXPECT_EQ(bytes, 0) << "round " << round << ", root " << root << ", " << count << " bytes";
  }
}

TEST(Windows, SeveralPendingOnesRunInTheirOrder) {
  Communicator comm = world();
  Window window = Window::allocate(comm, 8 * 5000);
  const auto values = window.as<std::int32_t>();
  for (int round = 0; round < 20; ++round) {
    for (std::int64_t part = 0; part < 8; ++part) {
      const std::int32_t own = comm.rank() == part % comm.size() ? round * 100 + static_cast<std::int32_t>(part) : -1;
      std::fill_n(values.begin() + part * 1250, 1250, own);
    }
    std::vector<Pending> pending;
    for (std::int64_t part = 0; part < 8; ++part) {
      pending.push_back(window.ibcast(static_cast<int>(part % comm.size()), part * 5000, part % 2 == 0 ? 5000 : 16));
    }
    // Others may be under way on the communicator.
    std::vector<int> sum(1);
    comm.allreduce(std::vector<int>{1}, sum, std::plus{});
    EXPECT_EQ(sum.front(), comm.size());
    while (!pending.empty()) pending.pop_back();
    for (std::int64_t part = 0; part < 8; ++part) {
      const std::int64_t last = part % 2 == 0 ? 1249 : 3;
      EXPECT_EQ(values[static_cast<std::size_t>(part * 1250 + last)], round * 100 + part);
    }
  }
}

TEST(Windows, ARankThatIsReadyKeepsNobodyWaitingForItsProgram) {
  Communicator comm = world();
  Window window = Window::allocate(comm, 4096);
  auto plan = window.bcast_init(0, 0, 4096);
  for (int round = 0; round < 50; ++round) {
    prepare(window, comm.rank(), 0, round, 0, 4096);
    plan.start();
    while (!plan.test()) {
    }
    EXPECT_EQ(wrong(window, 0, round, 0, 4096), 0);
  }
}

// Some are longer than a place in staging, and others go between them that leave it alone.
void broadcast_by_staging_of(const std::string& size) {
  Communicator comm = world({{"QUADRILLE_STAGING", size}});
  Window window = Window::allocate(comm, 3000);
  for (int round = 0; round < rounds_on(comm.size(), 600); ++round) {
    // Now and then a root goes on for a while.
    const int root = round / 5 % 2 == 0 ? round % comm.size() : round / 10 % comm.size();
    const std::int64_t count = 1 + round * 37 % 2999;
    prepare(window, comm.rank(), root, round, 1, count);
    if (round % 7 == 6) {
      window.ibcast(root, 1, count, {.algorithm = "one_sided_staged"}).wait();
    } else {
      window.bcast(root, 1, count, {.algorithm = round % 6 == 5 ? "" : "one_sided_staged"});
    }
    const std::int64_t bytes = wrong(window, root, round, 1, count);
    EXPECT_EQ(bytes, 0) << "round " << round << ", root " << root << ", " << count << " bytes";
  }
}

TEST(Windows, StagedBroadcastsFollowOneAnotherWithoutABarrier) {
  broadcast_by_staging_of("4096");
}

TEST(Windows, WithoutStagingTheyWaitForTheirReceivers) {
  broadcast_by_staging_of("0");
}

TEST(Windows, ARootIsTwoStagedBroadcastsAheadOfAReceiverThatIsLate) {
  Communicator comm = world();
  constexpr std::int64_t count = 10000;
  constexpr std::int64_t broadcasts = 3;
  Window window = Window::allocate(comm, broadcasts * count);
  if (comm.size() == 1) GTEST_SKIP() << "there is no receiver";
  std::fill_n(window.data(), window.size(), untouched);
  for (std::int64_t i = 0; comm.rank() == 0 && i < window.size(); ++i) window.data()[i] = byte_of(0, 0, i);
  // All ranks are on one node, and have one clock. Rank 1 is a leaf of the tree: nobody waits for it to pass data on.
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  constexpr int late = 1;
  comm.barrier();
  if (comm.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::vector<std::int64_t> times{now()};  // when this rank called, and when each broadcast was over
  for (std::int64_t i = 0; i < broadcasts; ++i) {
    window.bcast(0, i * count, count, {.algorithm = "one_sided_staged"});
    times.push_back(now());
  }
  EXPECT_EQ(wrong(window, 0, 0, 0, window.size()), 0);
  std::vector<std::int64_t> all(static_cast<std::size_t>(comm.size()) * times.size());
  comm.allgather(times, all);
  const std::int64_t called = all[late * times.size()];
  // The third takes the place of the first, which has to be acknowledged.
  EXPECT_GT(all[broadcasts], called);
#ifdef OPEN_MPI
  if (window.transport().find("pt2pt") != std::string::npos) {
    GTEST_SKIP() << "osc/pt2pt: MPI_Win_flush waits until its target has entered MPI, and so does the root";
  }
  EXPECT_LT(all[broadcasts - 1], called);
#else
  GTEST_SKIP() << "MPICH: MPI_Win_flush waits until its target has entered MPI, and so does the root";
#endif
}

// Open MPI has several components for windows, and which one it is decides who waits for whom.
TEST(Windows, WhatServesThemIsTold) {
  Communicator comm = world();
  const Window window = Window::allocate(comm, 100);
  const std::string told = window.transport();
#ifdef OPEN_MPI
  EXPECT_EQ(told.rfind("windows of the MPI by osc/", 0), 0U) << told;
#else
  EXPECT_EQ(told, "windows of the MPI");
#endif
}

TEST(Windows, APersistentOperationEndsWithItsWindow) {
  Communicator comm = world();
  std::optional<Window> window(Window::allocate(comm, 100));
  Persistent plan = window->bcast_init(0, 0, 100);
  plan.start();
  window.reset();  // waits for it
  plan.wait();
  EXPECT_THROW(plan.start(), Error);
  comm.barrier();
}

TEST(Windows, MemoryOfTheProgramCanBeExposed) {
  Communicator comm = world();
  std::vector<double> data(1000, comm.rank());
  {
    Window window = Window::create(comm, data.data(), static_cast<std::int64_t>(data.size() * sizeof(double)));
    EXPECT_EQ(window.data(), reinterpret_cast<std::byte*>(data.data()));
    const int root = comm.size() - 1;
    window.bcast(root, 0, 4000);
    window.bcast(root, 8 * 999, 8);
  }
  for (std::size_t i : {0U, 499U, 999U}) EXPECT_EQ(data[i], comm.size() - 1);
  EXPECT_EQ(data[500], comm.rank());
}

TEST(Windows, WithoutAWindowMessagesDoTheSameAndSayWhy) {
  Communicator comm = world({{"QUADRILLE_WINDOWS", "0"}});
  Window window = Window::allocate(comm, 10000);
  EXPECT_FALSE(window.one_sided());
  EXPECT_EQ(window.transport(), "messages, since QUADRILLE_WINDOWS=0");
  int round = 0;
  for (const char* algorithm : {"", "one_sided_binomial", "binomial"}) {
    for (const std::int64_t count : {0, 1, 9000}) {
      const int root = round % comm.size();
      prepare(window, comm.rank(), root, round, 5, count);
      window.bcast(root, 5, count, {.algorithm = algorithm});
      EXPECT_EQ(wrong(window, root, round, 5, count), 0) << algorithm;
      ++round;
    }
  }
}

TEST(Windows, AnAlgorithmOfMessagesMovesTheSameMemory) {
  Communicator comm = world();
  Window window = Window::allocate(comm, 10000);
  prepare(window, comm.rank(), 0, 1, 0, 10000);
  window.bcast(0, 0, 10000, {.algorithm = "binomial"});
  EXPECT_EQ(wrong(window, 0, 1, 0, 10000), 0);
}

TEST(Windows, WhatIsWrongIsRefusedOnAllRanksAlike) {
  Communicator comm = world();
  Window window = Window::allocate(comm, 100 + comm.rank());
  EXPECT_EQ(window.size(), 100 + comm.rank());
  EXPECT_THROW(window.bcast(comm.size(), 0, 1), Error);
  EXPECT_THROW(window.bcast(-1, 0, 1), Error);
  EXPECT_THROW(window.bcast(0, -1, 1), Error);
  EXPECT_THROW(window.bcast(0, 1, 100), Error);  // the smallest has 100
  EXPECT_THROW(window.bcast(0, 0, 1, {.algorithm = "no such"}), Error);
  // Nor is there such an algorithm for data outside windows.
  std::vector<int> data(10, comm.rank());
  EXPECT_THROW(comm.bcast(data, 0, {.algorithm = "one_sided_linear"}), Error);
  window.bcast(0, 0, 100);
}

}  // namespace

}  // namespace quadrille::test
