#pragma once

#include <map>
#include <string>
#include <vector>

#include "draw/canvas.hpp"
#include "draw/plot.hpp"

namespace quadrille::draw {

// The appearance of a series.
struct Stroke {
  std::string colour;
  std::string dashes;  // stroke-dasharray; empty for a solid line
  double width = 2;
  int marker = -1;  // none
  bool hollow = false;

  std::string attributes() const;
};

void draw_marker(Canvas& canvas, const Stroke& stroke, Point centre, double radius);

// A series has the same stroke in all panels.
class Strokes {
 public:
  explicit Strokes(const std::vector<Panel>& panels);
  Stroke of(const Series& series) const;

 private:
  std::map<std::string, int> places_;
};

}  // namespace quadrille::draw
