#include "draw/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "draw/canvas.hpp"
#include "draw/palette.hpp"
#include "draw/picture.hpp"
#include "text/quantities.hpp"

namespace quadrille::draw {

namespace {

constexpr int shades = 24;
constexpr double full = 560;           // of the matrix, if it has many squares
constexpr double largest_square = 64;  // if it has few
constexpr double value_text = 11;
constexpr double small_text = 13;
constexpr const char* grid_ink = "#e2e8f0";

struct Rgb {
  double red = 0;
  double green = 0;
  double blue = 0;
};

// From little to much; each darker than the one before, so that it can be read without colours.
constexpr std::array<Rgb, 5> stops = {{{226, 240, 217}, {143, 208, 187}, {65, 168, 192}, {37, 99, 168}, {12, 36, 97}}};

std::string colour(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const double part = at - static_cast<double>(below);
  const auto mixed = [&](double Rgb::*channel) {
    return static_cast<int>(std::lround(stops[below].*channel * (1 - part) + stops[below + 1].*channel * part));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(&Rgb::red), mixed(&Rgb::green), mixed(&Rgb::blue));
}

class HeatDrawing {
 public:
  explicit HeatDrawing(const HeatMap& map) : map_(map), each_((map.size + most_heat_squares - 1) / most_heat_squares) {
    squares_ = (map.size + each_ - 1) / each_;
    side_ = std::min(largest_square, full / std::max(1, squares_));
    std::map<std::pair<int, int>, int> added;
    for (const HeatCell& cell : map.cells) {
      if (cell.value <= 0) continue;
      const std::pair square(cell.row / each_, cell.column / each_);
      values_[square] += cell.value;
      ++added[square];
    }
    if (is_mean()) {
      for (auto& [place, value] : values_) value /= added[place];
    }
    for (const auto& [place, value] : values_) {
      low_ = low_ == 0 ? value : std::min(low_, value);
      high_ = std::max(high_, value);
    }
  }

  // Of values above 0; the scale goes from the lowest to the highest, which another map may have.
  double low() const { return low_; }
  double high() const { return high_; }
  void set_scale(double low, double high) {
    low_ = low;
    high_ = high;
  }

  // Everything inside the margins, and these.
  void draw() {
    double labels = text_width(std::to_string(map_.size), small_text) + 12;
    for (const std::string& name : map_.names) labels = std::max(labels, text_width(name, small_text) + 12);
    left_ = margin + line_height + labels;
    const double matrix = side_ * squares_;
    const double headings = std::max(text_width(map_.title.heading, 22), text_width(map_.title.subheading, text_size));
    width_ = std::max({left_ + matrix, headings + margin, legend_width + margin}) + margin;
    body_.label({{margin, margin + 18}, 21, ink, "start", true}, map_.title.heading);
    body_.label({{margin, margin + 42}, text_size, quiet_ink}, map_.title.subheading);
    top_ = margin + 42 + 2 * line_height + 12;
    draw_axes(matrix);
    draw_squares();
    height_ = draw_legend(top_ + matrix + 16) + margin;
  }
  double width() const { return width_; }
  double height() const { return height_; }
  const std::string& body() const { return body_.str(); }

 private:
  static constexpr double legend_width = 300;

  double share(double value) const { return high_ > low_ ? std::log(value / low_) / std::log(high_ / low_) : 1; }
  bool is_mean() const { return map_.unit == HeatMap::Unit::rate || map_.unit == HeatMap::Unit::seconds; }
  std::string words(double value) const {
    if (map_.unit == HeatMap::Unit::rate) return text::rate(value);
    if (map_.unit == HeatMap::Unit::seconds) return text::seconds(value);
    const auto whole = static_cast<std::int64_t>(value);
    return map_.unit == HeatMap::Unit::bytes ? text::about_bytes(whole) : text::count(whole);
  }
  std::string unit() const {
    constexpr std::array<const char*, 4> units = {"bytes", "messages", "bytes a second", "time"};
    return units[static_cast<std::size_t>(map_.unit)];
  }
  std::string row_label(int row) const {
    const auto index = static_cast<std::size_t>(row);
    return index < map_.names.size() ? map_.names[index] : std::to_string(row);
  }

  // Numbers at such a distance that they don't touch.
  int tick_distance() const {
    const double needed = text_width(std::to_string(map_.size), small_text) + 10;
    int cells = 1;
    while (cells * side_ < needed) cells *= 2;
    return cells * each_;
  }

  void draw_axes(double matrix) {
    body_.box({left_, top_}, matrix, matrix, 0, fmt::format(R"(fill="#f8fafc" stroke="{}")", grid_ink));
    body_.label({{left_ + matrix / 2, top_ - line_height - 8}, text_size, quiet_ink, "middle"}, map_.columns);
    const double x = margin + 14;
    const double y = top_ + matrix / 2;
    body_.open("g", fmt::format(R"svg(transform="rotate(-90 {} {})")svg", number(x), number(y)));
    body_.label({{x, y}, text_size, quiet_ink, "middle"}, map_.rows);
    body_.close("g");
    for (int at = 0; at < map_.size; at += tick_distance()) {
      const int cell = at / each_;
      const double middle = (cell + 0.5) * side_;
      body_.label({{left_ + middle, top_ - 8}, small_text, quiet_ink, "middle"}, std::to_string(at));
      body_.label({{left_ - 7, top_ + middle + 0.35 * small_text}, small_text, quiet_ink, "end"}, row_label(at));
    }
  }

  // All squares of one shade are one path, with runs of them as one rectangle.
  void draw_squares() {
    std::array<std::string, shades + 1> paths;
    for (auto one = values_.begin(); one != values_.end();) {
      const auto [row, column] = one->first;
      const auto shade = static_cast<std::size_t>(std::lround(share(one->second) * shades));
      int run = 0;
      while (one != values_.end() && one->first == std::pair(row, column + run) &&
             static_cast<std::size_t>(std::lround(share(one->second) * shades)) == shade) {
        ++run;
        ++one;
      }
      paths[shade] += fmt::format("M{} {}h{}v{}h-{}z", number(left_ + column * side_), number(top_ + row * side_),
                                  number(run * side_), number(side_), number(run * side_));
    }
    for (std::size_t shade = 0; shade < paths.size(); ++shade) {
      if (paths[shade].empty()) continue;
      body_.element("path", fmt::format(R"(class="heat" fill="{}" d="{}")", colour(static_cast<double>(shade) / shades),
                                        paths[shade]));
    }
    double widest = 0;
    for (const auto& [place, value] : values_) widest = std::max(widest, text_width(words(value), value_text));
    if (side_ < widest + 4) return;
    for (const auto& [place, value] : values_) {
      body_.label({{left_ + (place.second + 0.5) * side_, top_ + (place.first + 0.5) * side_ + 4},
                   value_text,
                   share(value) > 0.45 ? paper : ink,
                   "middle"},
                  words(value));
    }
  }

  // Returns its lower end.
  double draw_legend(double y) {
    std::string what = unit();
    if (each_ > 1) what += fmt::format(" between {} {} and {}", each_, map_.what, each_);
    if (values_.empty()) {
      body_.label({{margin, y + 14}, text_size, quiet_ink}, "nothing is sent");
      return y + line_height;
    }
    body_.open("g", R"(class="legend")");
    const double piece = legend_width / shades;
    for (int i = 0; i < shades; ++i) {
      body_.box({margin + i * piece, y}, piece + 0.5, 12, 0,
                fmt::format(R"(fill="{}")", colour(high_ > low_ ? (i + 0.5) / shades : 1)));
    }
    body_.label({{margin, y + 28}, small_text, ink}, words(low_));
    body_.label({{margin + legend_width / 2, y + 28}, small_text, quiet_ink, "middle"}, what);
    body_.label({{margin + legend_width, y + 28}, small_text, ink, "end"}, words(high_));
    body_.close("g");
    return y + 34;
  }

  const HeatMap& map_;
  int each_;  // rows and columns in a square
  int squares_ = 0;
  double side_ = 0;
  std::map<std::pair<int, int>, double> values_;  // by row and column of squares
  double low_ = 0;                                // of those above 0
  double high_ = 0;
  double left_ = 0;  // of the matrix
  double top_ = 0;
  double width_ = 0;
  double height_ = 0;
  Canvas body_;
};

// What has one unit has one scale.
void set_scale(std::vector<HeatDrawing>& drawings, const std::vector<HeatMap>& maps, std::size_t of) {
  double low = 0;
  double high = 0;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (maps[i].unit != maps[of].unit || drawings[i].high() <= 0) continue;
    low = low == 0 ? drawings[i].low() : std::min(low, drawings[i].low());
    high = std::max(high, drawings[i].high());
  }
  drawings[of].set_scale(low, high);
}

}  // namespace

std::string heat_map(const HeatMap& map) {
  return heat_maps({map});
}

std::string heat_maps(const std::vector<HeatMap>& maps) {
  std::vector<HeatDrawing> drawings(maps.begin(), maps.end());
  double width = 0;
  double height = 0;
  std::string drawn;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    set_scale(drawings, maps, i);
    drawings[i].draw();
    const std::string body = drawings[i].body();
    drawn += width > 0 ? fmt::format("<g transform=\"translate({} 0)\">\n{}</g>\n", number(width), body) : body;
    width += drawings[i].width();
    height = std::max(height, drawings[i].height());
  }
  return svg_of({maps.front().title.heading, maps.front().title.subheading, width, height}, drawn);
}

}  // namespace quadrille::draw
