#include "draw/boxes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "draw/canvas.hpp"
#include "draw/palette.hpp"
#include "draw/picture.hpp"

namespace quadrille::draw {

namespace {

constexpr double padding = 9;
constexpr double name_size = 14;
constexpr double name_height = 24;
constexpr double tile_height = 25;
constexpr double good_shape = 1.7;  // width to height
constexpr double least_width = 360;

// Distinguishable for colour-blind readers.
constexpr std::array<const char*, 6> mark_colours = {ink, accent, "#009e73", "#d55e00", "#cc79a7", "#56b4e9"};
constexpr std::array<const char*, 2> fills = {"#f1f5f9", paper};

struct Size {
  double width = 0;
  double height = 0;
};

// Equal cells in rows.
struct Grid {
  Size cell;
  int columns = 1;
  double gap = padding;
  Size size;

  Grid(Size of_cell, std::size_t count, double between) : cell(of_cell), gap(between) {
    double best = 0;
    for (int tried = 1; tried <= static_cast<int>(count); ++tried) {
      const Size all = size_with(tried, count);
      const double empty = std::ceil(static_cast<double>(count) / tried) * tried - static_cast<double>(count);
      const double fault =
          std::abs(std::log(all.width / all.height / good_shape)) + 2 * empty / static_cast<double>(count);
      if (tried > 1 && fault >= best) continue;
      best = fault;
      columns = tried;
    }
    size = size_with(columns, count);
  }

  Point corner(std::size_t index) const {
    const int row = static_cast<int>(index) / columns;
    const int column = static_cast<int>(index) % columns;
    return {column * (cell.width + gap), row * (cell.height + gap)};
  }

 private:
  Size size_with(int many, std::size_t count) const {
    const double rows = std::ceil(static_cast<double>(count) / many);
    return {many * (cell.width + gap) - gap, rows * (cell.height + gap) - gap};
  }
};

class BoxesDrawing {
 public:
  explicit BoxesDrawing(const Boxes& picture) : picture_(picture) {
    for (const Box& box : picture.outermost) take_widths(box, 0);
  }

  std::string run() {
    const Size content = size_of(picture_.outermost, 0);
    const double headings =
        std::max(text_width(picture_.title.heading, 22), text_width(picture_.title.subheading, text_size));
    width_ = std::max({content.width, headings, least_width}) + 2 * margin;
    double y = margin;
    body_.label({{margin, y + 18}, 21, ink, "start", true}, picture_.title.heading);
    y += 30;
    if (!picture_.title.subheading.empty()) {
      body_.label({{margin, y + 12}, text_size, quiet_ink}, picture_.title.subheading);
      y += 26;
    }
    draw_all(picture_.outermost, {(width_ - content.width) / 2, y}, 0);
    y = draw_legend(y + content.height + 14);
    return assembled(y + margin);
  }

 private:
  // Boxes of one depth have the same size.
  void take_widths(const Box& box, std::size_t depth) {
    if (name_widths_.size() <= depth) name_widths_.push_back(0);
    name_widths_[depth] = std::max(name_widths_[depth], text_width(box.name, name_size));
    for (const Tile& tile : box.tiles) tile_width_ = std::max(tile_width_, text_width(tile.text, text_size) + 8);
    for (const Box& one : box.inside) take_widths(one, depth + 1);
  }

  Grid tiles_of(const Box& box) const { return {{tile_width_, tile_height}, box.tiles.size(), 6}; }

  Grid grid_of(const std::vector<Box>& boxes, std::size_t depth) const {
    Size cell;
    for (const Box& box : boxes) {
      const Size size = size_of(box, depth);
      cell = {std::max(cell.width, size.width), std::max(cell.height, size.height)};
    }
    return {cell, boxes.size(), padding};
  }

  Size size_of(const std::vector<Box>& boxes, std::size_t depth) const {
    return boxes.empty() ? Size{} : grid_of(boxes, depth).size;
  }

  Size content_of(const Box& box, std::size_t depth) const {
    return box.tiles.empty() ? size_of(box.inside, depth + 1) : tiles_of(box).size;
  }

  Size size_of(const Box& box, std::size_t depth) const {
    const Size content = content_of(box, depth);
    return {std::max(content.width, name_widths_[depth]) + 2 * padding, name_height + content.height + padding};
  }

  void draw_all(const std::vector<Box>& boxes, Point at, std::size_t depth) {
    if (boxes.empty()) return;
    const Grid grid = grid_of(boxes, depth);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Point corner = grid.corner(i);
      draw(boxes[i], {at.x + corner.x, at.y + corner.y}, grid.cell, depth);
    }
  }

  // The cell may be larger than the box needs.
  void draw(const Box& box, Point at, Size cell, std::size_t depth) {
    body_.box(at, cell.width, cell.height, 7,
              fmt::format(R"(class="box" fill="{}" stroke="#cbd5e1" stroke-width="1.2")", fills[depth % fills.size()]));
    body_.label({{at.x + padding, at.y + 17}, name_size, depth == 0 ? ink : quiet_ink, "start", depth == 0}, box.name);
    const Size content = content_of(box, depth);
    const Point inner{at.x + (cell.width - content.width) / 2, at.y + name_height};
    draw_all(box.inside, inner, depth + 1);
    if (box.tiles.empty()) return;
    const Grid grid = tiles_of(box);
    for (std::size_t i = 0; i < box.tiles.size(); ++i) {
      const Point corner = grid.corner(i);
      draw(box.tiles[i], {inner.x + corner.x, inner.y + corner.y});
    }
  }

  void draw(const Tile& tile, Point at) {
    const char* const colour = tile.mark < 0 ? "#94a3b8" : colour_of(tile.mark);
    body_.box(at, tile_width_, tile_height, 7,
              fmt::format(R"(class="rank" fill="{}" stroke="{}" stroke-width="1.4")", tile.mark < 0 ? paper : colour,
                          colour));
    body_.label({{at.x + tile_width_ / 2, at.y + tile_height / 2 + 0.35 * text_size},
                 text_size,
                 tile.mark < 0 ? ink : paper,
                 "middle",
                 true},
                tile.text);
  }

  static const char* colour_of(int mark) { return mark_colours[static_cast<std::size_t>(mark) % mark_colours.size()]; }

  // Returns its lower end.
  double draw_legend(double y) {
    if (picture_.marks.empty()) return y - 14;
    constexpr double sample = 18;
    double x = margin;
    body_.open("g", R"(class="legend")");
    for (std::size_t i = 0; i < picture_.marks.size(); ++i) {
      const double wide = sample + 7 + text_width(picture_.marks[i], text_size);
      if (x > margin && x + wide > width_ - margin) {
        x = margin;
        y += line_height;
      }
      body_.box({x, y + 4}, sample, 14, 4, fmt::format(R"(fill="{}")", colour_of(static_cast<int>(i))));
      body_.label({{x + sample + 7, y + 16}, text_size, ink}, picture_.marks[i]);
      x += wide + 18;
    }
    body_.close("g");
    return y + line_height;
  }

  std::string assembled(double height) const {
    return svg_of({picture_.title.heading, picture_.title.subheading, width_, height}, body_.str());
  }

  const Boxes& picture_;
  double tile_width_ = 30;
  std::vector<double> name_widths_;  // by depth
  double width_ = 0;
  Canvas body_;
};

}  // namespace

std::string boxes(const Boxes& picture) {
  return BoxesDrawing(picture).run();
}

}  // namespace quadrille::draw
