#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/report.hpp"
#include "measure/statistics.hpp"
#include "native/algorithms.hpp"

namespace quadrille::native {

// The MPI's own choice, as an algorithm.
inline constexpr std::string_view by_default = "default";

// One algorithm of the MPI at one size.
struct Point {
  std::string collective;
  std::int64_t bytes = 0;
  std::string algorithm;  // by_default, or a name
  int number = 0;         // see Algorithm
  std::int64_t segment = 0;
  std::vector<std::vector<double>> seconds;  // of each launch; per call, one per repeat

  // The median of all launches; low and high are the extremes of the launches' confidence intervals, so that a drift
  // from launch to launch makes it wide.
  measure::Interval time() const;
};

// What could not be measured.
struct Skipped {
  std::string collective;
  std::string algorithm;
  std::int64_t bytes = 0;
  std::string reason;
};

// MPICH's decision trees by default: its own and, of the device ch4, which collectives are composed of parts.
struct Trees {
  nlohmann::ordered_json own;
  nlohmann::ordered_json device;  // null if there is none
};

// Those in the bytes of MPICH's library. Nothing if they are not there.
std::optional<Trees> trees_in(std::string_view library);

struct Report {
  Library library = Library::openmpi;
  measure::Provenance provenance;
  std::vector<Point> points;
  std::vector<Skipped> skipped;
  std::optional<Trees> trees;  // MPICH's
  bool complete = false;

  // Adds a launch's repeats.
  void add(const Algorithm& algorithm, std::int64_t bytes, std::vector<double> seconds);
};

// report_from_json throws std::invalid_argument.
std::string to_json(const Report& report);
Report report_from_json(std::string_view text);

}  // namespace quadrille::native
