#include "breakdown/breakdown.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace quadrille::breakdown {
namespace {

trace::Trace sample() {
  trace::Trace trace;
  trace.program = "/usr/bin/lmp -in <in>";
  trace.ranks = 2;
  trace.times[0] = {10, {1, 1, 1, 0, 3}};
  trace.times[1] = {8, {0, 0, 1, 0, 1}};
  trace.messages[0][1] = {1000, 4096000};
  const trace::Communicator both{trace::Ranks(std::vector<Rank>{0, 1})};
  trace.collectives[both][{.collective = Collective::allreduce, .count = 2, .unit_bytes = 8}] = {50, 1600, 3, 2};
  trace.collectives[both][{.collective = Collective::allreduce, .count = 4, .unit_bytes = 8}] = {1, 64, 1, 1};
  trace.collectives[both][{.collective = Collective::alltoall, .form = trace::Form::non_blocking, .neighbours = true}] =
      {2, 64, 0.5, 0.5};
  return trace;
}

TEST(Breakdown, SaysWhereTheTimeGoes) {
  const std::string text = breakdown::to_text(sample());
  EXPECT_NE(text.find("2 ranks, 10.0 s from MPI_Init to MPI_Finalize"), std::string::npos) << text;
  EXPECT_NE(text.find("outside of traced calls       5.00 s     50 %      4.00 s      6.00 s"), std::string::npos)
      << text;
  EXPECT_NE(text.find("1,000 messages, 3.9 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("allreduce                                    102     1.6 KiB      2.00 s"), std::string::npos)
      << text;
  EXPECT_NE(text.find("neighbor_alltoall, non-blocking"), std::string::npos) << text;
  EXPECT_EQ(text.find("test "), std::string::npos) << text;
}

TEST(Breakdown, TellsWaitsFromCallsWhereTheyAreKnown) {
  trace::Trace met = sample();
  EXPECT_EQ(breakdown::to_text(met).find("late ranks"), std::string::npos);
  EXPECT_EQ(to_html(met).find("late ranks"), std::string::npos);
  for (auto& [communicator, kinds] : met.collectives) kinds.begin()->second.waited = 3;
  EXPECT_NE(breakdown::to_text(met).find("mean  waits for late ranks"), std::string::npos) << breakdown::to_text(met);
  EXPECT_NE(breakdown::to_text(met).find("2.00 s                1.50 s"), std::string::npos) << breakdown::to_text(met);
  EXPECT_NE(to_html(met).find("Waits for late ranks"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(to_json(met)).at("collectives").at(0).at("mean_waited_seconds"), 1.5);
  EXPECT_FALSE(nlohmann::json::parse(to_json(sample())).at("collectives").at(0).contains("mean_waited_seconds"));
}

TEST(Breakdown, IsJsonWithEachKindOfCall) {
  const auto json = nlohmann::json::parse(to_json(sample()));
  EXPECT_EQ(json.at("messages"), 1000);
  EXPECT_EQ(json.at("times").at(1).at("outside"), 6.0);
  ASSERT_EQ(json.at("collectives").size(), 3);
  EXPECT_EQ(json.at("collectives").at(0).at("size"), "16 B");
  EXPECT_EQ(json.at("collectives").at(0).at("communicator"), "2 ranks: 0-1");
  EXPECT_EQ(json.at("collectives").at(0).at("mean_seconds"), 1.5);
}

TEST(Breakdown, IsAPageInWhichNamesAreEscaped) {
  const std::string page = to_html(sample());
  EXPECT_NE(page.find("Trace of lmp"), std::string::npos);
  EXPECT_EQ(page.find("<in>"), std::string::npos);
  EXPECT_NE(page.find("class=\"heat\""), std::string::npos);
}

TEST(Breakdown, OfAProgramThatDoesNothingIsNotWrong) {
  trace::Trace nothing;
  nothing.ranks = 1;
  EXPECT_NE(breakdown::to_text(nothing).find("0 messages"), std::string::npos);
  EXPECT_FALSE(to_html(nothing).empty());
  EXPECT_EQ(nlohmann::json::parse(to_json(nothing)).at("collectives").size(), 0);
}

}  // namespace
}  // namespace quadrille::breakdown
