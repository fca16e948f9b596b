#include "measure/tuning.hpp"

#include <gtest/gtest.h>

#include <string>

namespace quadrille::measure {
namespace {

// Repeats with a deviation of 2 %, the same for all variants, as in rounds.
Point sampled(const std::string& collective, std::int64_t bytes, const std::string& variant, double ratio,
              int repeats = 20) {
  Point made;
  made.collective = collective;
  made.bytes = bytes;
  made.variant = variant;
  for (int i = 0; i < repeats; ++i) made.seconds.push_back(ratio * (1 + 0.01 * (i % 5 - 2)));
  return made;
}

// One collective: native and, for each size, ratios of variants.
struct Measured {
  std::int64_t bytes;
  std::vector<std::pair<std::string, double>> ratios;
};
Report report_of(const std::string& collective, const std::vector<Measured>& cells) {
  Report report;
  report.provenance.mpi = "MPICH 4.0.2";
  report.provenance.ranks = 8;
  report.provenance.nodes = 2;
  for (const Measured& cell : cells) {
    report.points.push_back(sampled(collective, cell.bytes, "native", 1));
    for (const auto& [variant, ratio] : cell.ratios) {
      report.points.push_back(sampled(collective, cell.bytes, variant, ratio));
    }
  }
  return report;
}

// The rules as lines such as "8-64 ring".
std::string lines(const Section& section) {
  std::string text;
  for (const Section::Line& line : section.lines) {
    text += std::to_string(line.rule.from) + "-" + std::to_string(line.rule.to) + " " + name_of(line.rule) + "\n";
  }
  return text;
}
std::string rules_of(const Report& report) {
  return lines(tuning_section(report, 1, 65536));
}

TEST(Tuning, TheSmallestRatioWins) {
  const Report report = report_of("allreduce", {{8, {{"ring", 0.8}, {"rabenseifner", 0.5}, {"pairwise", 0.9}}}});
  EXPECT_EQ(rules_of(report), "8-8 rabenseifner\n");
}

TEST(Tuning, ASmallGainMakesNoRule) {
  EXPECT_EQ(rules_of(report_of("allreduce", {{8, {{"ring", 1.0}}}, {64, {{"ring", 0.98}}}, {512, {{"ring", 1.4}}}})),
            "");
  EXPECT_EQ(rules_of(report_of("allreduce", {{8, {{"ring", 0.95}}}})), "8-8 ring\n");
}

TEST(Tuning, AnInsignificantGainMakesNoRule) {
  Report report = report_of("allreduce", {{8, {{"ring", 0.8}}}});
  // In almost half of the rounds it is slower.
  for (std::size_t i = 0; i < 9; ++i) report.points[1].seconds[i] = 1.5;
  EXPECT_LT(median_interval(report.points[1].seconds).middle, 0.97);
  EXPECT_EQ(rules_of(report), "");
}

TEST(Tuning, ManyVariantsNeedMoreRepeats) {
  Report report;
  report.points = {sampled("allreduce", 8, "native", 1, 6), sampled("allreduce", 8, "ring", 0.5, 6)};
  EXPECT_EQ(rules_of(report), "8-8 ring\n");
  report.points.push_back(sampled("allreduce", 8, "pairwise", 2, 6));
  EXPECT_EQ(rules_of(report), "");
  report.points = {sampled("allreduce", 8, "native", 1, 5), sampled("allreduce", 8, "ring", 0.5, 5)};
  EXPECT_EQ(rules_of(report), "");
}

TEST(Tuning, NeighbouringSizesWithOneWinnerAreMerged) {
  const Report report = report_of("allreduce", {{512, {{"ring", 0.7}}}, {8, {{"ring", 0.5}}}, {64, {{"ring", 0.6}}}});
  EXPECT_EQ(rules_of(report), "8-512 ring\n");
}

TEST(Tuning, BetweenAWinAndALossThereIsNoRule) {
  const Report report = report_of("allreduce", {{8, {{"ring", 0.5}}},
                                                {64, {{"ring", 1.2}}},
                                                {512, {{"ring", 0.5}}},
                                                {4096, {{"ring", 0.5}}},
                                                {32768, {{"ring", 0.99}}}});
  EXPECT_EQ(rules_of(report), "8-8 ring\n512-4096 ring\n");
}

TEST(Tuning, BetweenTwoWinnersTheRuleIsForOneThatWinsAtBothEnds) {
  // Ring wins at both; rabenseifner is better at the upper end only.
  EXPECT_EQ(rules_of(report_of("allreduce", {{8, {{"ring", 0.5}, {"rabenseifner", 1.2}}},
                                             {64, {{"ring", 0.8}, {"rabenseifner", 0.4}}}})),
            "8-63 ring\n64-64 rabenseifner\n");
  // None wins at both.
  EXPECT_EQ(rules_of(report_of("allreduce", {{8, {{"ring", 0.5}, {"rabenseifner", 1.2}}},
                                             {64, {{"ring", 1.2}, {"rabenseifner", 0.4}}}})),
            "8-8 ring\n64-64 rabenseifner\n");
  // A third is second best at each end.
  EXPECT_EQ(rules_of(report_of("allreduce", {{8, {{"ring", 0.4}, {"rabenseifner", 0.9}, {"pairwise", 0.5}}},
                                             {64, {{"ring", 0.9}, {"rabenseifner", 0.4}, {"pairwise", 0.5}}}})),
            "8-8 ring\n9-63 pairwise\n64-64 rabenseifner\n");
}

TEST(Tuning, TheSameScheduleUnderTwoNamesIsOneVariant) {
  Report report = report_of("allreduce", {{8, {{"ring", 0.82}, {"pairwise", 0.8}}}});
  EXPECT_EQ(rules_of(report), "8-8 pairwise\n");
  report.points[2].same_as = "ring";
  summarise(report.points);
  const Section section = tuning_section(report, 1, 65536);
  EXPECT_EQ(lines(section), "8-8 ring\n");
  EXPECT_EQ(section.lines[0].note, "0.82 of native's time (0.82-0.82)");
}

TEST(Tuning, AGainWithinTheNoiseMakesNoRule) {
  // Pairwise, which is ring, takes 25 % longer: the noise is greater than the gain of any.
  Report report = report_of("allreduce", {{8, {{"ring", 0.7}, {"pairwise", 0.875}, {"rabenseifner", 0.85}}}});
  EXPECT_EQ(rules_of(report), "8-8 ring\n");
  report.points[2].same_as = "ring";
  summarise(report.points);
  EXPECT_EQ(rules_of(report), "");
  // A gain beyond the noise makes one.
  report.points[3] = sampled("allreduce", 8, "rabenseifner", 0.7);
  summarise(report.points);
  EXPECT_EQ(rules_of(report), "8-8 rabenseifner\n");
}

TEST(Tuning, AControlThatDiffersFromNativeCountsAsNoise) {
  EXPECT_EQ(rules_of(report_of("allreduce", {{8, {{"ring", 0.8}, {"control", 1}}}})), "8-8 ring\n");
  EXPECT_EQ(rules_of(report_of("allreduce", {{8, {{"ring", 0.8}, {"control", 1.3}}}})), "");
}

TEST(Tuning, ATableOfABusyMachineSaysSo) {
  Report report = report_of("bcast", {{8, {{"binomial", 2}}}});
  report.provenance.warnings = {"the machine is busy"};
  EXPECT_EQ(tuning_section(report, 1, 4096).comments[1], "the machine is busy");
}

TEST(Tuning, OnlyQuadrillesAlgorithmsGetRules) {
  EXPECT_EQ(rules_of(report_of("allreduce", {{8, {{"default", 0.1}, {"control", 0.1}, {"delayed", 0.1}}}})), "");
  EXPECT_EQ(rules_of(report_of("alltoallv", {{8, {{"linear", 0.1}}}})), "");
}

TEST(Tuning, ARuleHoldsAllThatReproducesTheRun) {
  Report report = report_of("bcast", {{1 << 20, {{"pipelined_chain", 0.5}}}, {1 << 21, {{"pipelined_chain", 0.6}}}});
  const Report alltoall = report_of("alltoall", {{8, {{"bruck:4", 0.25}}}});
  report.points.insert(report.points.end(), alltoall.points.begin(), alltoall.points.end());
  report.provenance.date = "2026-11-15";
  report.provenance.host = "here";
  report.provenance.command = "quadrille bench bcast";
  Table table;
  put(table, tuning_section(report, 2, 4096), measured_collectives(report));
  EXPECT_EQ(to_text(table),
            "# quadrille table 1\n"
            "\n"
            "[MPICH 4.0.2, 8 ranks, 2 nodes]\n"
            "# measured 2026-11-15 on here: quadrille bench bcast\n"
            "bcast                 1048576-2097152  pipelined_chain  segment 4096  # 0.5-0.6 of native's time\n"
            "alltoall              8                bruck:4  # 0.25 of native's time (0.25-0.25)\n");
}

TEST(Tuning, ARunWithoutWinnersSaysSo) {
  const Section section = tuning_section(report_of("bcast", {{8, {{"binomial", 2}}}}), 1, 4096);
  EXPECT_TRUE(section.lines.empty());
  EXPECT_EQ(section.comments.back(), "no algorithm is faster than native");
}

TEST(Tuning, WhatIsRememberedHasNativeWhereNothingWins) {
  Report report = report_of("allreduce", {{8, {{"ring", 1.2}}},
                                          {64, {{"ring", 0.99}}},
                                          {512, {{"ring", 0.5}}},
                                          {4096, {{"ring", 0.5}}},
                                          {8192, {{"ring", 1.1}}}});
  report.provenance.date = "2026-11-15T12:00:00Z";
  for (Point& point : report.points) point.calls = 10;
  const Section section = tuning_section(report, 1, 65536, {.to_remember = true});
  EXPECT_EQ(lines(section), "8-64 native\n512-4096 ring\n8192-8192 native\n");
  const Section::Line& line = section.lines.at(1);
  EXPECT_NEAR(line.seconds, 0.5, 0.01);
  EXPECT_NEAR(line.native_seconds, 1, 0.02);
  EXPECT_EQ(line.calls, 2 * 20 * 10);
  EXPECT_EQ(line.when, "2026-11-15T12:00:00Z");
  EXPECT_NEAR(section.lines.at(0).seconds, section.lines.at(0).native_seconds, 1e-9);
}

TEST(Tuning, TooFewRepeatsAreNotRemembered) {
  Report report;
  report.points = {sampled("bcast", 8, "native", 1, 5), sampled("bcast", 8, "linear", 0.5, 5),
                   sampled("bcast", 64, "native", 1), sampled("bcast", 64, "linear", 1)};
  EXPECT_EQ(lines(tuning_section(report, 1, 65536, {.to_remember = true})), "64-64 native\n");
}

}  // namespace
}  // namespace quadrille::measure
