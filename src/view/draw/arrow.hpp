#pragma once

#include <string>

#include "draw/canvas.hpp"
#include "draw/palette.hpp"
#include "draw/sheet.hpp"
#include "draw/timeline.hpp"

namespace quadrille::draw {

struct ArrowStyle {
  std::string colour;
  double width = 2;
  bool partial = false;  // dashed, with a hollow head
  double scale = 1;
};

// An arrow with its head, and a dot at its tail.
void draw_arrow(Canvas& canvas, Point from, Point to, const ArrowStyle& style);
// Memory that other ranks access.
void draw_slot(Canvas& canvas, Point centre, const ArrowStyle& style);

// Draws the transfers of a timeline on a sheet.
class Arrows {
 public:
  Arrows(const Timeline& timeline, const Palette& palette, const Sheet& sheet);

  void draw(Canvas& canvas, const Transfer& transfer) const;
  // Labels arrows that wrap around the edge with their peers.
  void label_ends(Canvas& canvas, const Transfer& transfer) const;

  ArrowStyle style(const Transfer& transfer) const;
  bool partial(const Transfer& transfer) const {
    return timeline_.reduces && transfer.units > 0 && !transfer.payload.all;
  }
  // A difference below a quarter is not visible, and comes from shares that differ by one.
  bool widths_differ() const { return 5 * least_units_ < 4 * most_units_; }

 private:
  struct Around;
  Around around(const Transfer& transfer) const;
  std::string description(const Transfer& transfer) const;
  double stop(const Transfer& transfer) const;

  const Timeline& timeline_;
  const Palette& palette_;
  const Sheet& page_;
  std::int64_t least_units_ = 0;
  std::int64_t most_units_ = 0;
};

}  // namespace quadrille::draw
