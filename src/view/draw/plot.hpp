#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quadrille::draw {

struct PlotPoint {
  double x = 0;  // not negative; 0 is placed left of all others
  double y = 0;  // above 0
  // The confidence interval of y, for an error bar.
  std::optional<double> low = {};
  std::optional<double> high = {};
};

enum class SeriesStyle : std::uint8_t {
  line,       // with its own colour and marker
  reference,  // the baseline: in black
  floor       // a lower bound: grey, dashed, without markers; clipped below all others
};

struct Series {
  std::string name;
  std::vector<PlotPoint> points;
  SeriesStyle style = SeriesStyle::line;
  // Series of one family share colour and marker, such as one algorithm before and after a change; by default each is
  // its own family. The variation distinguishes them: 0 is a solid line, others are dashed with hollow markers.
  std::string family = {};
  int variation = 0;
};

// One of several charts that share their axes and legend.
struct Panel {
  std::string title;
  std::vector<Series> series;
};

enum class Quantity : std::uint8_t { bytes, seconds, bytes_a_second, number, ratio };

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
  // A second panel to the right of each, with another axis of values; none, or as many as there are panels.
  std::vector<Panel> beside = {};
  Axis beside_y = {"", Quantity::ratio};
};

// The plot as a self-contained SVG: logarithmic axes, ticks at measured sizes or numbers and at powers of ten, a legend
// above the panels. Deterministic. Throws std::invalid_argument if there is nothing to plot, or a value without a
// logarithm.
std::string plot(const Plot& plot);

}  // namespace quadrille::draw
