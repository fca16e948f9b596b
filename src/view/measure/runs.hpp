#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/compare.hpp"
#include "measure/statistics.hpp"

namespace quadrille::measure {

// Wall-clock times in seconds of a program's runs, in pairs: without the drop-in and with it.
struct PairedRuns {
  std::vector<double> without;
  std::vector<double> with;
};

// Whether the run with the drop-in is the first of its pair. It alternates, so that a drift favours neither.
bool starts_with(std::size_t pair);

// What the runs say. Unless the whole interval of the speedup is on one side of 1, it is Verdict::same.
struct RunVerdict {
  Verdict verdict = Verdict::same;
  Interval speedup;  // time without / time with; with too few pairs the range of all
  std::size_t pairs = 0;

  bool certain() const { return pairs >= least_for_interval; }
};
RunVerdict judge(const PairedRuns& runs);

// The time that one run without the drop-in spends in blocking collectives, by the report of calls passed through.
struct CollectiveTimes {
  double run = 0;                                           // seconds of wall-clock time
  double inside = 0;                                        // seconds from MPI_Init to MPI_Finalize
  std::vector<std::pair<std::string, double>> collectives;  // seconds, the mean of the ranks; the longest first
  std::int64_t uncounted = 0;                               // non-blocking and other calls that are not timed

  double seconds() const;
  double share() const { return run > 0 ? seconds() / run : 0; }
};

// Nothing if the text is no such report.
std::optional<CollectiveTimes> collective_times(const std::string& report, double run);

// For people: the verdict in the first line.
std::string to_text(const PairedRuns& runs, const std::optional<CollectiveTimes>& times);
std::string to_json(const PairedRuns& runs, const std::optional<CollectiveTimes>& times);

// The speedup, as "1.12".
std::string times_text(double ratio);

}  // namespace quadrille::measure
