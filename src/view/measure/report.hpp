#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics.hpp"

namespace quadrille::measure {

// The variant that stands for the MPI's own call.
inline constexpr std::string_view native = "native";
// The same measured again, and with a delay.
inline constexpr std::string_view control = "control";
inline constexpr std::string_view delayed = "delayed";
inline bool is_of_native(std::string_view variant) {
  return variant == native || variant == control || variant == delayed;
}

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
  double rate_bits = 0;                    // of a link, in bit/s; 0 if unknown
  double uplink_bits = 0;                  // of an uplink, in bit/s; 0 if unknown
  double clock_uncertainty = 0;            // of the global clock, in seconds
  double other_load = 0;                   // processors that others kept busy, on the machine where that matters most
  std::vector<std::string> warnings = {};  // why the figures are not to be trusted
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
  std::optional<double> price;        // by the model of the machine, in seconds; of native at least
  std::optional<double> floor;        // lower bound by the links, in seconds
  bool settled = true;                // the precision was reached in time
  std::string same_as = {};           // the first variant with the same schedules on all ranks; empty: itself

  // Whether there are enough repeats for a confidence interval.
  bool has_interval() const { return seconds.size() >= least_for_interval; }
};

struct Report {
  Provenance provenance;
  std::vector<Point> points;
  bool complete = true;  // false: the run is under way, or was interrupted
};

// Null if there is none.
const Point* find(std::span<const Point> points, std::string_view collective, std::int64_t bytes,
                  std::string_view variant);

// Computes time and ratio of every point from its seconds. Variants are measured in rounds, so seconds[i] of two
// variants of a cell (a collective with a size) are paired; a point with another number of repeats than native gets no
// ratio.
void summarise(std::span<Point> points);

// The complete report. report_from_json throws std::invalid_argument with the position of the error, as in
// "points[3].bytes: not a number".
std::string to_json(const Report& report);
Report report_from_json(std::string_view text);

// One line per point, without the individual repeats; times in seconds.
std::string to_csv(const Report& report);

// The table, in the parts in which it is printed while it is measured: what comes first, and each cell.
struct TableColumns {
  std::size_t variant = 7;  // characters
  bool floor = false;       // has lower bounds
};
// "0.86 (0.84 to 0.89)", or the median alone.
std::string ratio_text(const Interval& ratio, bool whole);
std::string origin_text(const Provenance& from);
std::string cell_text(std::span<const Point> cell, const TableColumns& columns);

}  // namespace quadrille::measure
