#include "meet/meeting.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "replay/world.hpp"

namespace quadrille::meet {
namespace {

// Processes that live on when a communicator's ranks have met.
struct Machine {
  explicit Machine(std::int32_t count, std::int32_t per_node)
      : places(static_cast<std::size_t>(count)), node(per_node) {}

  std::vector<Places> places;  // what each has heard
  std::int32_t node;           // processes on one

  struct Met {
    std::vector<Meeting::Result> results;
    std::vector<std::int64_t> received;
    std::vector<Meeting::Address> opened;
  };
  Met meet(const std::vector<std::int32_t>& processes, const std::function<void(Meeting::Own&)>& change = {},
           Rank without_memory = -1) {
    const auto ranks = static_cast<Rank>(processes.size());
    Met met;
    met.results.resize(processes.size());
    met.opened.resize(processes.size(), {-1, -1});
    std::vector<std::unique_ptr<Plan>> plans;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const std::int32_t process = processes[at];
      Meeting::Own own{.rank = rank,
                       .ranks = ranks,
                       .processes = processes,
                       .place = {.node = static_cast<std::uint64_t>(process / node) + 1000},
                       .machine = 7,
                       .cores = 4 + process % 3,
                       .oversubscribed = process == 5};
      if (change) change(own);
      Meeting::Memory memory;
      memory.create = [rank](const Topology&, bool) { return std::optional(Meeting::Address{rank, 1}); };
      memory.open = [&met, at, rank, without_memory](const Topology&, bool,
                                                     const std::optional<Meeting::Address>& one) {
        if (one) met.opened[at] = *one;
        return std::string(rank == without_memory ? "no more of it" : "");
      };
      plans.push_back(std::make_unique<Meeting>(std::move(own), memory, places[static_cast<std::size_t>(process)],
                                                met.results[at]));
    }
    met.received = replay::run(std::move(plans), {.seed = 3}).received;
    return met;
  }
};

std::vector<std::int32_t> from_to(std::int32_t first, std::int32_t end) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(end - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

TEST(Meeting, EveryRankLearnsTheSame) {
  Machine machine(12, 3);
  const Machine::Met met = machine.meet(from_to(0, 12));
  for (Rank rank = 0; rank < 12; ++rank) {
    const Meeting::Result& result = met.results[static_cast<std::size_t>(rank)];
    ASSERT_TRUE(result.topology);
    EXPECT_EQ(result.topology->domains(1), 4);
    EXPECT_TRUE(result.one_machine);
    EXPECT_EQ(result.cores, 4);
    EXPECT_TRUE(result.oversubscribed);
    EXPECT_TRUE(result.shares_memory);
    EXPECT_EQ(met.opened[static_cast<std::size_t>(rank)][0], rank / 3 * 3)
        << "the address of its own node's first rank";
  }
}

TEST(Meeting, PlacesAreExchangedOnlyIfARankDoesNotKnowThem) {
  Machine machine(16, 4);
  machine.meet(from_to(0, 8));
  // Some of these know each other, but not all.
  const auto second = machine.meet(from_to(4, 12));
  for (const Meeting::Result& result : second.results) EXPECT_EQ(result.topology->domains(1), 2);
  const std::int64_t many = second.received.front();
  // Those who have met in parts all know each other now, except 0 to 3 and 8 to 11.
  const auto known = machine.meet({4, 9, 10, 7});
  EXPECT_LT(known.received.front(), many);
  const auto unknown = machine.meet({0, 9, 10, 3});
  EXPECT_GT(unknown.received.front(), known.received.front());
  for (const Meeting::Result& result : unknown.results) {
    EXPECT_EQ(result.topology->domains(1), 2);
    EXPECT_TRUE(result.topology->same_node(0, 3));
  }
}

TEST(Meeting, ProcessesWithoutANumberTellEachTime) {
  Machine machine(4, 2);
  const auto without = [](Meeting::Own& own) { own.processes.clear(); };
  const std::vector<std::int32_t> all = from_to(0, 4);
  const auto first = machine.meet(all, without);
  const auto second = machine.meet(all, without);
  EXPECT_EQ(first.received, second.received);
  for (const Meeting::Result& result : second.results) EXPECT_EQ(result.topology->domains(1), 2);
}

TEST(Meeting, ARankThatCannotSayWhereItIsIsHeardByAll) {
  Machine machine(5, 2);
  const auto met = machine.meet(from_to(0, 5), [](Meeting::Own& own) {
    if (own.rank >= 3) own.trouble = "racks: no such file, says " + std::to_string(own.rank);
  });
  for (const Meeting::Result& result : met.results) EXPECT_EQ(result.refusal, "racks: no such file, says 3");
}

TEST(Meeting, NobodyHasMemoryIfOneCannot) {
  Machine machine(7, 3);
  for (Rank without = 0; without < 7; ++without) {
    const auto met = machine.meet(from_to(0, 7), {}, without);
    for (const Meeting::Result& result : met.results) {
      EXPECT_FALSE(result.shares_memory);
      EXPECT_EQ(result.without, without);
      EXPECT_EQ(result.because, "no more of it");
    }
  }
}

// Bytes that a rank receives: at first 16 for each process, unless they are few, then a few words.
TEST(Meeting, OfThoseWhoKnowEachOtherTakesAFewWords) {
  for (const Rank ranks : {2, 3, 16, 64, 100, 1024, 4096}) {
    constexpr Rank per_node = 16;
    Machine machine(ranks, per_node);
    const auto all = from_to(0, ranks);
    const auto most = [](const std::vector<std::int64_t>& bytes) {
      return *std::max_element(bytes.begin(), bytes.end());
    };
    const std::int64_t first = most(machine.meet(all).received);
    const std::int64_t second = most(machine.meet(all).received);
    const double few = 64 * std::ceil(std::log2(ranks)) + 64 * std::min(ranks, per_node);
    EXPECT_LE(static_cast<double>(second), few) << ranks;
    if (ranks < 64) continue;
    EXPECT_LE(first, 16 * ranks) << ranks;
  }
}

}  // namespace
}  // namespace quadrille::meet
