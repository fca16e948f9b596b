#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics.hpp"

namespace quadrille::measure {

// The variant that is the MPI's own.
inline constexpr std::string_view native = "native";

// Where the numbers come from.
struct Provenance {
  std::string version;  // of this program
  std::string mpi;      // name and version
  int ranks = 0;
  int nodes = 0;
  std::string ranks_per_node;  // "4", or "3-4" where nodes differ
  std::string binding;         // how ranks are bound to cores, in words
  int usable_cores = 0;        // of a node; the least, where nodes differ
  bool oversubscribed = false;
  std::string command;  // the line that made it
  std::string label;    // how plots and comparisons call it
  std::string host;
  std::string date;
  double rate_bits = 0;          // of a link, bits a second; 0 if unknown
  double uplink_bits = 0;        // between the switches of nodes; 0 if unknown
  double clock_uncertainty = 0;  // seconds by which the nodes' clocks may differ
};

// One variant of one collective with one size.
struct Point {
  std::string collective;
  std::int64_t bytes = 0;
  std::string variant;          // native, ring, bruck:4, ...
  std::vector<double> seconds;  // of a call, one for each repeat: the slowest rank's
  Interval time;
  std::optional<Interval> ratio;      // time / native's of the same round; below 1 is faster than native
  std::int64_t discarded = 0;         // repeats thrown away since a rank started late
  int calls = 1;                      // calls in a repeat: short ones are repeated, and seconds divided
  std::optional<std::int64_t> steps;  // messages on the critical path; unknown for native
  std::optional<double> floor;        // seconds that the links need at least
  bool settled = true;                // the interval was narrow enough before time was up

  // Whether low and high of time and ratio are worth showing.
  bool has_interval() const { return seconds.size() >= least_for_interval; }
};

struct Report {
  Provenance provenance;
  std::vector<Point> points;
};

// Null if there is none.
const Point* find(const Report& report, std::string_view collective, std::int64_t bytes, std::string_view variant);

// Computes time and ratio of every point from its seconds. Repeats of a cell (a collective with a size) are taken in
// rounds, so seconds[i] of two variants belong together; a point with another number of repeats than native gets no
// ratio.
void summarise(Report& report);

// Everything, for programs. report_from_json reads it back; throws std::invalid_argument that says what is wrong and
// where, as in "points[3].bytes: not a number".
std::string to_json(const Report& report);
Report report_from_json(std::string_view text);

// A line a point, without the single repeats; times in seconds.
std::string to_csv(const Report& report);
// A table for people.
std::string to_text(const Report& report);

}  // namespace quadrille::measure
