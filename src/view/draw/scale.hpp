#pragma once

#include <string>
#include <vector>

#include "draw/plot.hpp"

namespace quadrille::draw {

struct Tick {
  double value = 0;
  std::string label;
};

// A logarithmic scale from values to pixels.
class Scale {
 public:
  // Values must not be negative. If they are close together, the scale is extended.
  explicit Scale(std::vector<double> values);

  // Extends either end to the next power of ten, if that is near.
  void round_out();
  // Sets the pixels of the ends.
  void place(double low_end, double high_end);
  double at(double value) const;

  // Ticks whose labels are at least `gap` apart; `across` if labels are side by side, at the given font size.
  std::vector<Tick> ticks(Quantity unit, bool across, double size, double gap) const;

 private:
  bool fits(const std::vector<Tick>& ticks, bool across, double size, double gap) const;

  std::vector<double> values_;  // sorted, without duplicates
  double zero_ = 0;             // the position of 0
  double low_ = 0;              // logarithms
  double high_ = 0;
  double low_end_ = 0;
  double high_end_ = 1;
};

}  // namespace quadrille::draw
