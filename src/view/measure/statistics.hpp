#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace quadrille::measure {

// An estimate and its confidence interval.
struct Interval {
  double middle = 0;
  double low = 0;
  double high = 0;

  // Relative to the middle: 0.02 is +-2 %.
  double half_width() const { return middle == 0 ? 0 : (high - low) / 2 / middle; }
  bool contains(double value) const { return low <= value && value <= high; }
};

// Fewer samples give no 95 % interval.
inline constexpr std::size_t least_for_interval = 6;

// The median and its distribution-free confidence interval: two order statistics, whose ranks follow from the binomial
// distribution. With too few samples it is the range of the samples, with a confidence of 1 - 2^(1 - n). Throws
// std::invalid_argument without samples.
Interval median_interval(std::span<const double> samples, double confidence = 0.95);

// The same for the ratios of[i] / to[i] of paired samples: disturbances that affect both cancel. Throws
// std::invalid_argument if the sizes differ.
Interval ratio_interval(std::span<const double> of, std::span<const double> to, double confidence = 0.95);

// The two-sided p of the Mann-Whitney rank-sum test; exact for up to 20 samples each without ties, else by the normal
// approximation with corrections for ties and continuity. 1 if either set is empty or all samples are equal.
double rank_sum_p(std::span<const double> a, std::span<const double> b);

// Which of the tests are significant if the chance of any false alarm is limited to the level, by Holm's correction.
std::vector<bool> significant(std::span<const double> p_values, double level);

}  // namespace quadrille::measure
