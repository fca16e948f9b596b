#include "measure/runs.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace quadrille::measure {
namespace {

PairedRuns runs(std::size_t pairs, double without, double with) {
  PairedRuns all;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double noise = 1 + 0.01 * static_cast<double>(i % 3);
    all.without.push_back(without * noise);
    all.with.push_back(with);
  }
  return all;
}

std::string first_line(const PairedRuns& all, const std::optional<CollectiveTimes>& times) {
  const std::string text = to_text(all, times);
  return text.substr(0, text.find('\n'));
}

const std::string drop_in_report = R"({"ranks":2, "wall_seconds":9.0,
 "collectives":[{"collective":"bcast","mean_seconds":1.0,"largest_seconds":1.5},
                {"collective":"allreduce","mean_seconds":2.4,"largest_seconds":3.0}],
 "passed_through":{"bcast":{"not selected":4,"non-blocking":3},"barrier":{"persistent":2}}})";

TEST(Runs, AlternateWhichComesFirst) {
  EXPECT_FALSE(starts_with(0));
  EXPECT_TRUE(starts_with(1));
  EXPECT_FALSE(starts_with(2));
}

TEST(Runs, AreFasterOrSlowerIfTheWholeIntervalIs) {
  EXPECT_EQ(judge(runs(6, 1.1, 1)).verdict, Verdict::faster);
  EXPECT_TRUE(judge(runs(6, 1.1, 1)).certain());
  EXPECT_EQ(judge(runs(6, 0.9, 1)).verdict, Verdict::slower);
  EXPECT_EQ(judge(runs(6, 0.99, 1)).verdict, Verdict::same);
  EXPECT_EQ(judge({{1, 2, 3}, {1, 2, 3}}).verdict, Verdict::same);
}

TEST(Runs, ArePairedSoThatADriftCancels) {
  PairedRuns drifting;
  for (int i = 0; i < 8; ++i) {
    drifting.without.push_back(1.1 * (1 + i));
    drifting.with.push_back(1.0 * (1 + i));
  }
  EXPECT_NEAR(judge(drifting).speedup.low, 1.1, 1e-9);
  EXPECT_EQ(judge(drifting).verdict, Verdict::faster);
}

TEST(Runs, SayTheVerdictFirst) {
  const auto times = collective_times(drop_in_report, 10);
  EXPECT_EQ(first_line(runs(9, 1.1, 1), times),
            "faster: 1.11 times (1.10-1.12), 9 runs each; collectives are 34 % of the run");
  EXPECT_EQ(first_line(runs(9, 1, 2.04), times),
            "slower: 2.02 times (2.00-2.04), 9 runs each; collectives are 34 % of the run");
  EXPECT_EQ(
      first_line(runs(9, 0.99, 1), times),
      "no difference beyond the noise: 0.990 to 1.010 times as fast, 9 runs each; collectives are 34 % of the run");
}

TEST(Runs, SayThatTheyAreTooFew) {
  EXPECT_EQ(
      first_line(runs(3, 160, 1), {}),
      "faster in all pairs of runs: 162 times (160-163), 3 runs each, 6 make it certain; the share of collectives "
      "is unknown: the program wrote no report");
  EXPECT_EQ(
      first_line(runs(1, 1, 2), collective_times(drop_in_report, 10)),
      "slower in the only pair of runs: 2.00 times, 1 run each, 6 make it certain; collectives are 34 % of the run");
}

TEST(Runs, HaveTheTimesOfTheirCollectives) {
  const auto times = collective_times(drop_in_report, 10);
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->share(), 0.34);
  EXPECT_EQ(times->collectives.front().first, "allreduce");
  EXPECT_EQ(times->uncounted, 5);
  EXPECT_FALSE(collective_times("", 10));
  EXPECT_FALSE(collective_times("{}", 10));
  const std::string text = to_text(runs(2, 1, 1), times);
  EXPECT_NE(text.find("allreduce 2.40 s, bcast 1.00 s\n"), std::string::npos) << text;
  EXPECT_NE(text.find("5 non-blocking, persistent and neighbourhood calls are not timed"), std::string::npos) << text;
}

TEST(Runs, AreWrittenAsJson) {
  const auto all = nlohmann::json::parse(to_json(runs(7, 1.1, 1), collective_times(drop_in_report, 10)));
  EXPECT_EQ(all["verdict"], "faster");
  EXPECT_EQ(all["certain"], true);
  EXPECT_EQ(all["without"].size(), 7U);
  EXPECT_NEAR(all["speedup"]["median"], 1.11, 0.005);
  EXPECT_NEAR(all["collectives"]["share"], 0.34, 1e-9);
  EXPECT_FALSE(nlohmann::json::parse(to_json(runs(7, 1.1, 1), {})).contains("collectives"));
}

}  // namespace
}  // namespace quadrille::measure
