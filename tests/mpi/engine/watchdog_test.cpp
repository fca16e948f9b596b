#include "engine/watchdog.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/context.hpp"

namespace quadrille::engine {
namespace {

using Clock = std::chrono::steady_clock;

// A broadcast from rank 0, which the others enter first.
class WatchdogTest : public testing::Test {
 protected:
  static Settings settings(bool check) {
    Settings made;
    made.watchdog = 10;
    made.patience = 5;
    made.check = check;
    return made;
  }
  static std::unique_ptr<Task> bcast(Context& context, char& data) {
    const Shape shape{.variant = variant_named(Collective::bcast, "binomial"), .count = 1};
    Decision decision;
    decision.variant = shape.variant;
    auto task =
        context.prepare(shape, {.collective = Collective::bcast, .ranks = context.ranks(), .count = 1}, decision);
    task->output_layouts() = {Layout::basic(1)};
    task->binding().output = {{reinterpret_cast<std::byte*>(&data), 1, task->output_layouts().data()}};
    return task;
  }
  // Everybody has seen what there was to see.
  static void meet() { PMPI_Barrier(MPI_COMM_WORLD); }
};

TEST_F(WatchdogTest, SaysOnceWhatACollectiveWaitsFor) {
  Context context(MPI_COMM_WORLD, settings(false));
  EXPECT_EQ(context.in_flight(), "");
  char data = 0;
  std::unique_ptr<Task> task = bcast(context, data);
  const bool waits = context.rank() != 0;
  if (waits) {
    context.start(*task);
    const std::string text = context.in_flight();
    EXPECT_NE(text.find(fmt::format("rank {} of {}: collective number 0, bcast (binomial), waits for\n", context.rank(),
                                    context.ranks())),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("receive from "), std::string::npos) << text;
    EXPECT_EQ(context.overdue(Clock::now()), "") << "too early";
    EXPECT_EQ(context.overdue(Clock::now() + std::chrono::seconds(11)), text);
    EXPECT_EQ(context.overdue(Clock::now() + std::chrono::seconds(22)), "") << "said already";
  }
  meet();
  if (!waits) context.start(*task);
  context.wait(*task);
  EXPECT_EQ(context.in_flight(), "");
  meet();
}

TEST_F(WatchdogTest, SaysWhichAreQueuedAndWhatBeginsAfterWhat) {
  Context context(MPI_COMM_WORLD, settings(false));
  char data = 0;
  char more = 0;
  std::unique_ptr<Task> first = bcast(context, data);
  std::unique_ptr<Task> second = bcast(context, more);
  const bool waits = context.rank() != 0;
  const auto start = [&] {
    context.start(*first);
    context.start_after(*second, *first);
  };
  if (waits) {
    start();
    EXPECT_NE(context.in_flight().find("collective number 1, bcast (binomial): begins after number 0\n"),
              std::string::npos)
        << context.in_flight();
  }
  meet();
  if (!waits) start();
  context.wait(*first);
  context.wait(*second);
  meet();
}

TEST_F(WatchdogTest, CheckedModeNamesThoseThatHaveNotCalled) {
  Context context(MPI_COMM_WORLD, settings(true));
  if (context.ranks() == 1) return;
  char data = 0;
  std::unique_ptr<Task> task = bcast(context, data);
  // Rank 0 is late.
  const bool waits = context.rank() != 0;
  if (waits) {
    context.start(*task);
    EXPECT_EQ(context.overdue(Clock::now() + std::chrono::seconds(4)), "") << "too early";
    const std::string text = context.overdue(Clock::now() + std::chrono::seconds(6));
    // The next rank waits for its signal.
    const std::string expected =
        fmt::format("quadrille: rank 0 of {} has not called collective number 0, bcast (binomial)", context.ranks());
    EXPECT_EQ(context.rank() == 1 ? text.substr(0, expected.size()) : expected, expected);
  }
  meet();
  if (!waits) context.start(*task);
  context.wait(*task);
  meet();
}

}  // namespace
}  // namespace quadrille::engine
