#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace quadrille::measure {

// A value and the range in which it lies with some confidence.
struct Interval {
  double middle = 0;
  double low = 0;
  double high = 0;

  // Relative to the middle: 0.02 is +-2 %.
  double half_width() const { return middle == 0 ? 0 : (high - low) / 2 / middle; }
  bool contains(double value) const { return low <= value && value <= high; }
};

// Fewer samples give no interval of 95 %.
inline constexpr std::size_t least_for_interval = 6;

// The median of the samples, and the interval between two of them that holds the median of what they are drawn from
// with at least this confidence, whatever the distribution: the ranks of the two follow from the binomial distribution.
// Where there are too few for that, the interval is from the least to the greatest, with a confidence of 1 - 2^(1 - n).
// Throws std::invalid_argument without samples.
Interval median_interval(std::span<const double> samples, double confidence = 0.95);

// The same for the ratios of[i] / to[i] of samples taken side by side, in the same round: what slows both down,
// cancels. Throws std::invalid_argument unless there are as many of both.
Interval ratio_interval(std::span<const double> of, std::span<const double> to, double confidence = 0.95);

// How likely two sets of samples differ at least so much if both come from one distribution: the two-sided p of the
// rank-sum test by Mann and Whitney; exact for up to 20 samples each without ties, else by the normal approximation
// with its corrections for ties and continuity. 1 if either set is empty or all samples are equal.
double rank_sum_p(std::span<const double> a, std::span<const double> b);

// Which of many tests may be believed, such that the chance of one false alarm among all of them stays below the
// level: Holm's correction.
std::vector<bool> significant(std::span<const double> p_values, double level);

}  // namespace quadrille::measure
