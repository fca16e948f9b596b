#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/report.hpp"

namespace quadrille::measure {

enum class Verdict : std::uint8_t { same, faster, slower, only_before, only_after };
const char* name(Verdict verdict);

// How a point of one report differs from its like in another.
struct Change {
  std::string collective;
  std::int64_t bytes = 0;
  std::string variant;
  std::optional<double> before;  // the median: a ratio to native, or seconds
  std::optional<double> after;
  double factor = 1;  // after / before: above 1 is slower
  double p = 1;       // before the correction for many tests
  Verdict verdict = Verdict::same;
  int calls_before = 1;  // in a repeat
  int calls_after = 1;
  bool by_ratio = false;
  bool baseline = false;  // native where others are held against it: its change is shown, but is no loss of ours

  // Calls in a repeat share its start: with many more or fewer of them a call's time is another.
  bool other_calls() const { return calls_before > 2 * calls_after || calls_after > 2 * calls_before; }
  bool is_loss() const { return verdict == Verdict::slower && !baseline; }
};

struct CompareOptions {
  double level = 0.05;      // the chance of a false alarm among all points together
  double threshold = 0.05;  // smaller changes don't count, however certain they are
};

// Points are matched by collective, bytes and variant. Where both reports have native in the same cell, the ratios to
// it are compared, so that a machine that got slower as a whole does not count; else the times. A change counts if it
// is significant after the correction for many tests, and larger than the threshold. Points that only one report has
// come last.
std::vector<Change> compare(const Report& before, const Report& after, const CompareOptions& options = {});

// Of the points that both reports have: those with so few repeats that no change of them alone could count.
std::int64_t underpowered(const Report& before, const Report& after, const std::vector<Change>& changes,
                          const CompareOptions& options = {});

}  // namespace quadrille::measure
