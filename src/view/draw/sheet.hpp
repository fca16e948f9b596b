#pragma once

#include <cstdint>

#include "draw/canvas.hpp"
#include "draw/draw.hpp"
#include "draw/timeline.hpp"

namespace quadrille::draw {

// The sheet layout. Text and strokes grow with the width, since a wide drawing is shown smaller.
struct Sheet {
  double scale = 1;
  double width = 0;
  double height = 0;
  double column = 0;   // from lifeline to lifeline
  double first_x = 0;  // the first lifeline
  double left = 0;     // the steps' bands
  double right = 0;
  double beside = 0;     // left and right of the bands, for the labels of arrows that wrap around
  double boxes_y = 0;    // middle of the boxes with the ranks
  double bands_y = 0;    // top of the first step
  double band = 0;       // height of a step
  double bands_end = 0;  // bottom of the last
  double legend_y = 0;

  double x(Rank rank) const { return first_x + column * rank; }
  double top_of(std::int64_t step) const { return bands_y + band * static_cast<double>(step - 1); }
  // Messages leave and arrive within the step's band.
  double leave_y(std::int64_t step) const { return top_of(step) + 7 * scale; }
  double arrive_y(std::int64_t step) const { return top_of(step) + band - 9 * scale; }
  double steps_x() const { return left - beside - 10 * scale; }  // where the steps' numbers end
  double text_size() const { return 15 * scale; }
  double fold_radius() const { return 5 * scale; }
  double margin() const { return 18 * scale; }
};

// Everything but the legend, which is added below legend_y.
Sheet sheet_for(const Timeline& timeline, const Title& title);

}  // namespace quadrille::draw
