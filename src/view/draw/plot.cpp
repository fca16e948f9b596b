#include "draw/plot.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "draw/canvas.hpp"
#include "draw/palette.hpp"
#include "draw/picture.hpp"
#include "draw/scale.hpp"
#include "draw/stroke.hpp"

namespace quadrille::draw {

namespace {

constexpr double page_width = 760;
constexpr const char* grid_colour = "#e2e8f0";

Scale x_scale(const Plot& plot) {
  std::vector<double> values;
  for (const std::vector<Panel>* panels : {&plot.panels, &plot.beside}) {
    for (const Panel& panel : *panels) {
      for (const Series& series : panel.series) {
        for (const PlotPoint& point : series.points) values.push_back(point.x);
      }
    }
  }
  return Scale(values);
}

// Lower bounds far below all other series are clipped, to save space.
Scale y_scale(const std::vector<Panel>& panels) {
  std::vector<double> values;
  std::vector<double> floors;
  for (const Panel& panel : panels) {
    for (const Series& series : panel.series) {
      for (const PlotPoint& point : series.points) {
        if (!(point.y > 0)) throw std::invalid_argument("only positive values have a logarithm");
        std::vector<double>& all = series.style == SeriesStyle::floor ? floors : values;
        all.push_back(point.y);
        // An error bar that reaches 0 is drawn to the edge.
        if (point.low && *point.low > 0) all.push_back(*point.low);
        if (point.high) all.push_back(*point.high);
      }
    }
  }
  constexpr double far = 2;
  const double least = values.empty() ? 0 : *std::min_element(values.begin(), values.end());
  std::copy_if(floors.begin(), floors.end(), std::back_inserter(values),
               [&](double floor) { return floor * far >= least; });
  Scale scale(values);
  scale.round_out();
  return scale;
}

// An axis of values, shared by the panels of a column or of all.
class ValueAxis {
 public:
  ValueAxis(const std::vector<Panel>& panels, const Axis& axis, double height, double tick_gap)
      : scale_(y_scale(panels)), title_(axis.title) {
    scale_.place(height - inset, inset);
    ticks_ = scale_.ticks(axis.unit, false, text_size, tick_gap);
  }

  const std::string& title() const { return title_; }
  const std::vector<Tick>& ticks() const { return ticks_; }
  double label_width() const {
    double width = 0;
    for (const Tick& tick : ticks_) width = std::max(width, text_width(tick.label, text_size));
    return width;
  }
  Scale placed(double top, double bottom) const {
    Scale scale = scale_;
    scale.place(bottom - inset, top + inset);
    return scale;
  }

 private:
  static constexpr double inset = 10;  // keeps the data off the frame

  Scale scale_;
  std::string title_;
  std::vector<Tick> ticks_;
};

// The area of one panel's data.
struct Frame {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  const ValueAxis& axis;
  Scale y = axis.placed(top, bottom);
};

// Wraps a text to lines of at most `width`.
std::vector<std::string> wrapped(const std::string& text, double width, double size) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && text_width(line, size) + text_width(" ", size) + text_width(word, size) > width) {
      lines.push_back(std::exchange(line, ""));
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

class PlotDrawing {
 public:
  explicit PlotDrawing(const Plot& plot) : plot_(plot), strokes_(plot.panels), x_(x_scale(plot)) {}

  std::string run() {
    draw_heading();
    draw_legend();
    draw_panels();
    return assembled();
  }

 private:
  void draw_heading() {
    if (!plot_.heading.empty()) {
      y_now_ += 26;
      body_.label({{margin, y_now_ - 6}, 21, ink, "start", true}, plot_.heading);
    }
    std::istringstream lines(plot_.subheading);
    for (std::string line; std::getline(lines, line);) {
      for (const std::string& part : wrapped(line, page_width - 2 * margin, text_size)) {
        y_now_ += line_height;
        body_.label({{margin, y_now_ - 6}, text_size, quiet_ink}, part);
      }
    }
  }

  // Above the panels, in as many rows as needed.
  void draw_legend() {
    constexpr double sample = 34;
    std::set<std::string> known;
    double x = margin;
    y_now_ += 8 + line_height;
    for (const Panel& panel : plot_.panels) {
      for (const Series& series : panel.series) {
        if (!known.insert(series.name).second) continue;
        const double width = sample + 8 + text_width(series.name, text_size);
        if (x > margin && x + width > page_width - margin) {
          x = margin;
          y_now_ += line_height + 2;
        }
        const Stroke stroke = strokes_.of(series);
        const Point middle{x + sample / 2, y_now_ - 10};
        body_.line({x, middle.y}, {x + sample, middle.y}, stroke.attributes());
        draw_marker(body_, stroke, middle, 5);
        body_.label({{x + sample + 8, y_now_ - 5}, text_size, ink}, series.name);
        x += width + 22;
      }
    }
    y_now_ += 6;
  }

  void draw_panels() {
    const bool pairs = !plot_.beside.empty();
    const std::size_t columns = pairs || plot_.panels.size() > 1 ? 2 : 1;
    const double height = columns == 1 ? 360 : plot_.panels.size() == 1 ? 300 : 220;
    const double tick_gap = columns == 1 ? 12 : 6;
    const ValueAxis left_axis(plot_.panels, plot_.y, height, tick_gap);
    const ValueAxis right_axis = pairs ? ValueAxis(plot_.beside, plot_.beside_y, height, tick_gap) : left_axis;
    const double left = margin + left_axis.label_width() + 8;
    const double gap = 26 + (pairs ? right_axis.label_width() + 8 : 0);
    const double width =
        (page_width - margin - 12 - left - gap * static_cast<double>(columns - 1)) / static_cast<double>(columns);
    if (!left_axis.title().empty()) {
      y_now_ += line_height;
      body_.label({{margin, y_now_ - 6}, text_size, quiet_ink}, left_axis.title());
      if (pairs) {
        body_.label({{left + width + gap, y_now_ - 6}, text_size, quiet_ink}, right_axis.title());
        y_now_ += 6;
      }
    }
    const std::size_t frames = plot_.panels.size() + plot_.beside.size();
    for (std::size_t i = 0; i < frames; ++i) {
      const std::size_t column = i % columns;
      const bool on_right = pairs && column == 1;
      const Panel& panel = pairs ? (on_right ? plot_.beside : plot_.panels)[i / 2] : plot_.panels[i];
      if (!panel.title.empty() && column == 0) y_now_ += line_height;
      const double frame_left = left + static_cast<double>(column) * (width + gap);
      const Frame frame{frame_left, frame_left + width, y_now_ + 4, y_now_ + 4 + height,
                        on_right ? right_axis : left_axis};
      draw_panel(panel, frame, column == 0 || on_right, i + columns >= frames);
      if (column + 1 == columns || i + 1 == frames) y_now_ = frame.bottom + 30;
    }
    if (!plot_.x.title.empty()) {
      body_.label({{(left + page_width - margin) / 2, y_now_ + 14}, text_size, quiet_ink, "middle"}, plot_.x.title);
      y_now_ += 20;
    }
  }

  void draw_panel(const Panel& panel, const Frame& frame, bool labels_left, bool labels_below) {
    if (!panel.title.empty()) {
      body_.label({{frame.left, frame.top - 8}, text_size + 1, ink, "start", true}, panel.title);
    }
    // Keeps the data off the frame.
    x_.place(frame.left + 16, frame.right - 16);
    draw_grid(frame, labels_left, labels_below);
    body_.open("clipPath", fmt::format(R"(id="panel-{}")", ++panels_drawn_));
    body_.box({frame.left, frame.top}, frame.right - frame.left, frame.bottom - frame.top, 0);
    body_.close("clipPath");
    body_.open("g", fmt::format("clip-path='url(#panel-{})'", panels_drawn_));
    for (const Series& series : panel.series) {
      if (series.style == SeriesStyle::floor) draw_series(series, frame);
    }
    body_.close("g");
    for (const Series& series : panel.series) {
      if (series.style != SeriesStyle::floor) draw_series(series, frame);
    }
  }

  void draw_grid(const Frame& frame, bool labels_left, bool labels_below) {
    const std::string grid = fmt::format(R"(stroke="{}" stroke-width="1")", grid_colour);
    for (const Tick& tick : frame.axis.ticks()) {
      const double y = frame.y.at(tick.value);
      body_.line({frame.left, y}, {frame.right, y}, grid);
      if (labels_left) body_.label({{frame.left - 8, y + 5}, text_size, ink, "end"}, tick.label);
    }
    for (const Tick& tick : x_.ticks(plot_.x.unit, true, text_size, 12)) {
      const double x = x_.at(tick.value);
      body_.line({x, frame.top}, {x, frame.bottom}, grid);
      body_.line({x, frame.bottom}, {x, frame.bottom + 5}, fmt::format(R"(stroke="{}")", quiet_ink));
      if (labels_below) body_.label({{x, frame.bottom + 21}, text_size, ink, "middle"}, tick.label);
    }
    body_.line({frame.left, frame.bottom}, {frame.right, frame.bottom},
               fmt::format(R"(stroke="{}" stroke-width="1.4")", quiet_ink));
  }

  void draw_series(const Series& series, const Frame& frame) {
    const Stroke stroke = strokes_.of(series);
    std::vector<PlotPoint> points = series.points;
    std::sort(points.begin(), points.end(), [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    std::string corners;
    for (const PlotPoint& point : points) {
      corners +=
          fmt::format("{}{},{}", corners.empty() ? "" : " ", number(x_.at(point.x)), number(frame.y.at(point.y)));
      draw_error(point, stroke, frame);
    }
    body_.element("polyline", fmt::format(R"(class="series" points="{}" {})", corners, stroke.attributes()));
    for (const PlotPoint& point : points) draw_marker(body_, stroke, {x_.at(point.x), frame.y.at(point.y)}, 4.5);
  }

  void draw_error(const PlotPoint& point, const Stroke& stroke, const Frame& frame) {
    if (!point.low || !point.high) return;
    const double x = x_.at(point.x);
    const double top = frame.y.at(*point.high);
    const double bottom = *point.low > 0 ? frame.y.at(*point.low) : frame.bottom;
    const std::string look = fmt::format(R"(class="error" stroke="{}" stroke-width="1.4")", stroke.colour);
    body_.line({x, top}, {x, bottom}, look);
    for (double y : {top, bottom}) body_.line({x - 4, y}, {x + 4, y}, look);
  }

  std::string assembled() const {
    const std::string described =
        fmt::format("{}: {} against {}, both logarithmic.", plot_.subheading, plot_.y.title, plot_.x.title);
    return svg_of({plot_.heading, described, page_width, y_now_ + margin - 6}, body_.str());
  }

  const Plot& plot_;
  Strokes strokes_;
  Scale x_;
  Canvas body_;
  int panels_drawn_ = 0;
  double y_now_ = margin - 8;
};

}  // namespace

std::string plot(const Plot& plot) {
  return PlotDrawing(plot).run();
}

}  // namespace quadrille::draw
