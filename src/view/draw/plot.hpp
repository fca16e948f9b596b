#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quadrille::draw {

struct PlotPoint {
  double x = 0;  // 0 or more; 0 has a place of its own, left of all others
  double y = 0;  // above 0
  // Where y may lie, for an error bar.
  std::optional<double> low = {};
  std::optional<double> high = {};
};

enum class SeriesStyle : std::uint8_t {
  line,       // in a colour and with a marker of its own
  reference,  // what the others are held against: in ink
  floor       // grey, dashed, without markers; cut off below all others
};

struct Series {
  std::string name;
  std::vector<PlotPoint> points;
  SeriesStyle style = SeriesStyle::line;
  // Series of one family have the same colour and marker, such as one algorithm before and after a change; by default
  // each is its own. The variation tells them apart: 0 is a full line, others are dashed with hollow markers.
  std::string family = {};
  int variation = 0;
};

// One chart of several that share their axes and their legend.
struct Panel {
  std::string title;
  std::vector<Series> series;
};

enum class Quantity : std::uint8_t { bytes, seconds, bytes_a_second, number };

struct Axis {
  std::string title;
  Quantity unit = Quantity::seconds;
};

struct Plot {
  std::string heading;
  std::string subheading;  // may have several lines
  Axis x = {"", Quantity::bytes};
  Axis y = {"", Quantity::seconds};
  std::vector<Panel> panels;
};

// The plot as an SVG that stands alone: logarithmic axes, ticks at measured sizes or numbers and at powers of ten, a
// legend above the panels. Same input, same text. Throws std::invalid_argument if there is nothing to plot, or a value
// that has no logarithm.
std::string plot(const Plot& plot);

}  // namespace quadrille::draw
