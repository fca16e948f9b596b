#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics.hpp"

namespace quadrille::measure {

// The variant that stands for the MPI's own call.
inline constexpr std::string_view native = "native";

// The origin of the measurements.
struct Provenance {
  std::string version;  // of Quadrille
  std::string mpi;      // name and version
  int ranks = 0;
  int nodes = 0;
  std::string ranks_per_node;  // "4", or "3-4" where nodes differ
  std::string binding;         // how ranks are bound to cores, in words
  int usable_cores = 0;        // of a node; the minimum if nodes differ
  bool oversubscribed = false;
  std::string command;  // the command line
  std::string label;    // name in plots and comparisons
  std::string host;
  std::string date;
  double rate_bits = 0;          // of a link, in bit/s; 0 if unknown
  double uplink_bits = 0;        // of an uplink, in bit/s; 0 if unknown
  double clock_uncertainty = 0;  // of the global clock, in seconds
};

// One variant of one collective with one size.
struct Point {
  std::string collective;
  std::int64_t bytes = 0;
  std::string variant;          // native, ring, bruck:4, ...
  std::vector<double> seconds;  // per call, one per repeat, of the slowest rank
  Interval time;
  std::optional<Interval> ratio;      // to native's time of the same round; below 1 is faster
  std::int64_t discarded = 0;         // repeats discarded because a rank started late
  int calls = 1;                      // calls per repeat; seconds are divided by it
  std::optional<std::int64_t> steps;  // messages on the critical path; unknown for native
  std::optional<double> floor;        // lower bound by the links, in seconds
  bool settled = true;                // the precision was reached in time

  // Whether there are enough repeats for a confidence interval.
  bool has_interval() const { return seconds.size() >= least_for_interval; }
};

struct Report {
  Provenance provenance;
  std::vector<Point> points;
};

// Null if there is none.
const Point* find(const Report& report, std::string_view collective, std::int64_t bytes, std::string_view variant);

// Computes time and ratio of every point from its seconds. Variants are measured in rounds, so seconds[i] of two
// variants of a cell (a collective with a size) are paired; a point with another number of repeats than native gets no
// ratio.
void summarise(Report& report);

// The complete report. report_from_json throws std::invalid_argument with the position of the error, as in
// "points[3].bytes: not a number".
std::string to_json(const Report& report);
Report report_from_json(std::string_view text);

// One line per point, without the individual repeats; times in seconds.
std::string to_csv(const Report& report);
// As a table.
std::string to_text(const Report& report);

}  // namespace quadrille::measure
