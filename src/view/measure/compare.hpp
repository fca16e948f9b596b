#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/report.hpp"

namespace quadrille::measure {

enum class Verdict : std::uint8_t { same, faster, slower, only_before, only_after };
const char* name(Verdict verdict);

// The change of a point from one report to another.
struct Change {
  std::string collective;
  std::int64_t bytes = 0;
  std::string variant;
  std::optional<double> before;  // the median: a ratio to native, or seconds
  std::optional<double> after;
  double factor = 1;  // after / before: above 1 is slower
  double p = 1;       // before the correction for multiple tests
  Verdict verdict = Verdict::same;
  int calls_before = 1;  // in a repeat
  int calls_after = 1;
  bool by_ratio = false;
  bool baseline = false;  // native where others are compared with it: its change is shown, but is not a regression

  // Calls share the start of their repeat, so times with very different numbers of calls are not comparable.
  bool other_calls() const { return calls_before > 2 * calls_after || calls_after > 2 * calls_before; }
  bool is_loss() const { return verdict == Verdict::slower && !baseline; }
};

struct CompareOptions {
  double level = 0.05;      // the chance of any false alarm among all points
  double threshold = 0.05;  // smaller changes are ignored, however significant
};

// Points are matched by collective, bytes and variant. If both reports have native in the same cell, the ratios to it
// are compared, which excludes changes of the machine as a whole; otherwise the times. A change counts if it is
// significant after the correction for multiple tests and larger than the threshold. Points of only one report come
// last.
std::vector<Change> compare(const Report& before, const Report& after, const CompareOptions& options = {});

// The number of points in both reports with so few repeats that no change could be significant.
std::int64_t underpowered(const Report& before, const Report& after, const std::vector<Change>& changes,
                          const CompareOptions& options = {});

}  // namespace quadrille::measure
