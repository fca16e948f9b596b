#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/report.hpp"

namespace quadrille::measure {

// Neighbouring sizes of a collective at which the same variant is fastest.
struct Winner {
  std::string collective;
  std::int64_t from = 0;  // bytes
  std::int64_t to = 0;
  std::string variant;  // native, if none is faster beyond doubt
  // To native's time, the geometric mean over the sizes: of the winner; if that is native, of the best of the others.
  Interval ratio = {};
  int sizes = 0;
};

// A variant is fastest at a size if it has the smallest ratio to native, and the confidence interval of that is below 1
// by more than the noise. Variants with the same schedule are one, with the least favourable of their ratios. The
// library's own selection, default, competes only where no algorithm was measured by name.
std::vector<Winner> winners(std::span<const Point> points);

// The geometric mean of the ratios of `default` to native.
struct DefaultMean {
  std::string collective;  // empty: of all
  double ratio = 1;
  int sizes = 0;
};
// Of each collective, then of all if there are several; nothing if default was not measured.
std::vector<DefaultMean> default_means(std::span<const Point> points);

// Both in words.
std::string summary_text(std::span<const Point> points);

}  // namespace quadrille::measure
