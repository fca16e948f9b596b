#include "draw/stroke.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "draw/palette.hpp"

namespace quadrille::draw {

namespace {

// After Okabe and Ito, distinguishable for colour-blind readers; without their yellow, too pale for a line on white.
constexpr std::array<const char*, 6> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

// Corners around the centre, for a radius of 1. The first marker is a circle.
struct Shape {
  int corners;
  double turn;   // of the first corner, in parts of a circle from the top
  double inner;  // radius between corners; 1 for none
};
constexpr std::array<Shape, 7> shapes = {{{0, 0, 1},           // circle
                                          {4, 0.125, 1},       // square
                                          {3, 0, 1},           // triangle
                                          {4, 0, 1},           // diamond
                                          {3, 0.5, 1},         // triangle, upside down
                                          {5, 0, 0.45},        // star
                                          {4, 0.125, 0.35}}};  // cross

constexpr std::array<const char*, 3> dashes = {"", "8 4", "2 4"};

std::string key_of(const Series& series) {
  return series.family.empty() ? series.name : series.family;
}

std::string outline(const Shape& shape, Point centre, double radius) {
  const int steps = shape.inner < 1 ? 2 * shape.corners : shape.corners;
  std::string path;
  for (int i = 0; i < steps; ++i) {
    const double angle = 2 * M_PI * (shape.turn + static_cast<double>(i) / steps);
    const double reach = radius * (steps > shape.corners && i % 2 == 1 ? shape.inner : 1);
    path += fmt::format("{}{} {}", i == 0 ? "M" : "L", number(centre.x + reach * std::sin(angle)),
                        number(centre.y - reach * std::cos(angle)));
  }
  return path + "Z";
}

}  // namespace

std::string Stroke::attributes() const {
  const std::string dashed = dashes.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", dashes);
  return fmt::format(R"(fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round"{})", colour, number(width),
                     dashed);
}

void draw_marker(Canvas& canvas, const Stroke& stroke, Point centre, double radius) {
  if (stroke.marker < 0) return;
  const std::string look =
      fmt::format(R"(class="marker" fill="{}" stroke="{}" stroke-width="{}")", stroke.hollow ? paper : stroke.colour,
                  stroke.hollow ? stroke.colour : paper, stroke.hollow ? "1.6" : "0.8");
  const Shape& shape = shapes[static_cast<std::size_t>(stroke.marker) % shapes.size()];
  if (shape.corners == 0) return canvas.circle(centre, radius, look);
  // Corners and notches make a shape look smaller than a circle.
  const double reach = (shape.inner < 1 ? 1.6 : 1.25) * radius;
  canvas.element("path", fmt::format(R"(d="{}" {})", outline(shape, centre, reach), look));
}

Strokes::Strokes(const std::vector<Panel>& panels) {
  for (const Panel& panel : panels) {
    for (const Series& series : panel.series) {
      if (series.style == SeriesStyle::line) places_.insert({key_of(series), static_cast<int>(places_.size())});
    }
  }
}

Stroke Strokes::of(const Series& series) const {
  if (series.style == SeriesStyle::floor) return {.colour = "#94a3b8", .dashes = "6 5", .width = 2, .marker = -1};
  const auto variation = static_cast<std::size_t>(series.variation);
  Stroke stroke{.colour = ink, .dashes = dashes[variation % dashes.size()], .width = 2, .marker = 0};
  stroke.hollow = variation > 0;
  if (series.style == SeriesStyle::reference) {
    stroke.width = 2.8;
    return stroke;
  }
  const int place = places_.at(key_of(series));
  stroke.colour = colours[static_cast<std::size_t>(place) % colours.size()];
  // From a colour's second use on another marker, too: as their numbers are coprime, no pair occurs twice soon.
  stroke.marker = (place + 1) % static_cast<int>(shapes.size());
  return stroke;
}

}  // namespace quadrille::draw
