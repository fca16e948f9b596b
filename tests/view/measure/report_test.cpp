#include "measure/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>

namespace quadrille::measure {
namespace {

Point point(const std::string& collective, std::int64_t bytes, const std::string& variant, double seconds) {
  Point made;
  made.collective = collective;
  made.bytes = bytes;
  made.variant = variant;
  for (int i = 0; i < 10; ++i) made.seconds.push_back(seconds * (1 + 0.001 * i));
  return made;
}

Report sample() {
  Report report;
  report.provenance = {.version = "0.1.0",
                       .mpi = "Open MPI 4.1.4",
                       .ranks = 8,
                       .nodes = 2,
                       .ranks_per_node = "4",
                       .binding = "to cores",
                       .usable_cores = 2,
                       .oversubscribed = true,
                       .command = "quadrille bench \"a, b\"",
                       .label = "before, or so",
                       .host = "node\xff",
                       .date = "2026-11-15",
                       .rate_bits = 1e9,
                       .uplink_bits = 2.5e8,
                       .clock_uncertainty = 3.25e-6,
                       .other_load = 0.5,
                       .warnings = {"the machine is busy"}};
  report.points = {point("allreduce", 8, "native", 10e-6), point("allreduce", 8, "ring", 25e-6),
                   point("allreduce", 65536, "native", 1e-3), point("allreduce", 65536, "ring", 0.5e-3),
                   point("barrier", 0, "dissemination", 999.6e-6)};
  report.points[1].steps = 14;
  report.points[1].discarded = 3;
  report.points[1].calls = 7;
  report.points[1].settled = false;
  report.points[3].floor = 0.25e-3;
  report.points[3].same_as = "pairwise";
  summarise(report.points);
  return report;
}

// All of the table.
std::string to_text(const Report& report) {
  std::string text = origin_text(report.provenance);
  const std::span points(report.points);
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= points.size(); ++end) {
    const bool same = end < points.size() && points[end].collective == points[begin].collective &&
                      points[end].bytes == points[begin].bytes;
    if (same) continue;
    text += cell_text(points.subspan(begin, end - begin), {.variant = 13, .floor = true});
    begin = end;
  }
  return text;
}

// The error for the sample's JSON with one part replaced.
std::string complaint(const std::string& part, const std::string& by) {
  std::string text = to_json(sample());
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  text.replace(at, part.size(), by);
  try {
    report_from_json(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Report, RatiosAreToNativeOfTheSameCell) {
  const Report report = sample();
  EXPECT_FALSE(report.points[0].ratio);
  EXPECT_DOUBLE_EQ(report.points[1].ratio.value().middle, 2.5);
  EXPECT_DOUBLE_EQ(report.points[3].ratio.value().middle, 0.5);
  EXPECT_FALSE(report.points[4].ratio);
}

TEST(Report, ADifferentNumberOfRepeatsThanNativeGivesNoRatio) {
  Report report = sample();
  report.points[1].seconds.pop_back();
  summarise(report.points);
  EXPECT_FALSE(report.points[1].ratio);
}

TEST(Report, SurvivesAJsonRoundTrip) {
  Report report = sample();
  report.provenance.host = "node";
  const std::string text = to_json(report);
  const Report read = report_from_json(text);
  EXPECT_EQ(to_json(read), text);
  EXPECT_EQ(read.points.size(), report.points.size());
  EXPECT_EQ(read.points[1].seconds, report.points[1].seconds);
  EXPECT_EQ(read.points[1].steps, 14);
  EXPECT_EQ(read.points[1].calls, 7);
  EXPECT_FALSE(read.points[1].settled);
  EXPECT_EQ(read.points[3].floor, 0.25e-3);
  EXPECT_EQ(read.points[3].ratio.value().low, report.points[3].ratio.value().low);
  EXPECT_EQ(read.provenance.command, report.provenance.command);
  EXPECT_EQ(read.provenance.uplink_bits, 2.5e8);
  EXPECT_EQ(read.provenance.clock_uncertainty, 3.25e-6);
  EXPECT_EQ(read.provenance.warnings, report.provenance.warnings);
  EXPECT_EQ(read.points[3].same_as, "pairwise");
}

TEST(Report, OfAnInterruptedRunSaysSo) {
  Report report = sample();
  report.complete = false;
  EXPECT_NE(to_json(report).find("\"complete\": false,"), std::string::npos);
  EXPECT_FALSE(report_from_json(to_json(report)).complete);
  EXPECT_EQ(complaint("\"complete\": true", "\"complete\": 1"), "complete: neither true nor false");
  // Earlier versions did not write it.
  EXPECT_EQ(complaint("\"complete\": true,", ""), "");
}

TEST(Report, TooFewRepeatsHaveNoInterval) {
  Report report = sample();
  for (Point& point : report.points) point.seconds.resize(5);
  summarise(report.points);
  const std::string json = to_json(report);
  EXPECT_EQ(json.find("\"low\""), std::string::npos);
  EXPECT_EQ(to_json(report_from_json(json)), json);
  const std::string text = to_text(report);
  EXPECT_EQ(text.find(" to "), text.find(" to use")) << text;
  EXPECT_NE(text.find("         -  2.50  "), std::string::npos) << text;
  EXPECT_NE(to_csv(report).find(",,,2.5,,,14,,5,3,7,0\n"), std::string::npos) << to_csv(report);
}

TEST(Report, TextHasTheClockUncertaintyOfSeveralNodes) {
  Report report = sample();
  EXPECT_NE(to_text(report).find("clocks: agree within 3.25 µs\n"), std::string::npos);
  report.provenance.nodes = 1;
  EXPECT_EQ(to_text(report).find("clocks:"), std::string::npos);
}

TEST(Report, WithoutPointsIsReadBackToo) {
  EXPECT_TRUE(report_from_json(to_json(Report{})).points.empty());
}

TEST(Report, InvalidUtf8CanBeWritten) {
  EXPECT_EQ(report_from_json(to_json(sample())).provenance.host, "node\xef\xbf\xbd");
}

TEST(Report, ErrorsAreReportedWithTheirPosition) {
  EXPECT_EQ(complaint("\"quadrille bench\",", "\"else\","), "not a report of 'quadrille bench'");
  EXPECT_EQ(complaint("\"format_version\": 1", "\"format_version\": 2"), "format_version: from a newer quadrille");
  EXPECT_EQ(complaint("\"ranks\": 8", "\"ranks\": -8"), "provenance.ranks: not a count");
  EXPECT_EQ(complaint("\"ranks\": 8", "\"ranks\": 8589934592"), "provenance.ranks: not a count");
  EXPECT_EQ(complaint("\"oversubscribed\": true", "\"oversubscribed\": 1"),
            "provenance.oversubscribed: neither true nor false");
  EXPECT_EQ(complaint("\"mpi\"", "\"npi\""), "provenance.mpi: missing");
  EXPECT_EQ(complaint("\"the machine is busy\"", "1"), "provenance.warnings[0]: not a text");
  EXPECT_EQ(complaint("\"bytes\":65536", "\"bytes\":\"64K\""), "points[2].bytes: not a count");
  EXPECT_EQ(complaint("\"variant\":\"ring\"", "\"variant\":null"), "points[1].variant: not a text");
  EXPECT_EQ(complaint("\"variant\":\"ring\"", "\"variant\":\"native\""),
            "points[1]: the same variant and size as points[0]");
  EXPECT_EQ(complaint("\"seconds\":[", "\"seconds\":[-1,"), "points[0].seconds[0]: not a number above 0");
  EXPECT_EQ(complaint("\"low\":", "\"low\":-1,\"lower\":"), "points[0].time: not 0 < low <= median <= high");
  EXPECT_EQ(complaint("\"points\": [", "\"points\": [3,"), "points[0]: not an object");
  EXPECT_TRUE(complaint("\"points\": [", "\"points\": ").starts_with("not JSON: "));
  EXPECT_THROW(report_from_json(""), std::invalid_argument);
  EXPECT_THROW(report_from_json("[1e999]"), std::invalid_argument);
}

TEST(Report, CsvHasALinePerPointWithEqualNumbersOfFields) {
  const std::string text = to_csv(sample());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  EXPECT_NE(text.find("\n\"before, or so\",Open MPI 4.1.4,8,2,allreduce,8,ring,"), std::string::npos) << text;
  EXPECT_NE(text.find(",14,,10,3,7,0\n"), std::string::npos) << text;
}

TEST(Report, TextIsATableForEachSize) {
  const std::string text = to_text(sample());
  for (const char* part :
       {"before, or so\n",
        "Open MPI 4.1.4, 8 ranks on 2 nodes, 4 a node, with 2 cores to use on each: oversubscribed\n",
        "links: 1 Gbit/s, uplinks: 250 Mbit/s\n", "\nallreduce, 8 B\n", "\nallreduce, 64 KiB\n", "\nbarrier, 0 B\n",
        "2.50 (2.50 to 2.50)", "slower, not settled, 3 discarded\n", "faster, same as pairwise\n", "1.00 ms"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace quadrille::measure
