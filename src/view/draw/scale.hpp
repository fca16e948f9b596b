#pragma once

#include <string>
#include <vector>

#include "draw/plot.hpp"

namespace quadrille::draw {

struct Tick {
  double value = 0;
  std::string label;
};

// From values to pixels, by their logarithms.
class Scale {
 public:
  // All values must be 0 or more. Where they are close together, there is some room around them.
  explicit Scale(std::vector<double> values);

  // To the next power of ten at either end, where it is near.
  void round_out();
  // The pixels at the ends.
  void place(double low_end, double high_end);
  double at(double value) const;

  // Ticks with labels at least `gap` apart; `across` if labels stand side by side, at the given size of the font.
  std::vector<Tick> ticks(Quantity unit, bool across, double size, double gap) const;

 private:
  bool fits(const std::vector<Tick>& ticks, bool across, double size, double gap) const;

  std::vector<double> values_;  // different ones, in order
  double zero_ = 0;             // what stands for 0
  double low_ = 0;              // logarithms
  double high_ = 0;
  double low_end_ = 0;
  double high_end_ = 1;
};

}  // namespace quadrille::draw
