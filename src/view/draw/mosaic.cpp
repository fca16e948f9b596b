#include "draw/mosaic.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "draw/canvas.hpp"
#include "draw/palette.hpp"
#include "draw/picture.hpp"

namespace quadrille::draw {

namespace {

constexpr double mosaic_width = 760;
constexpr double row_height = 34;
constexpr double cell_text = 13;

// Light enough for dark text; after Okabe and Ito as far as they go, distinguishable for colour-blind readers.
constexpr std::array<const char*, 10> tile_fills = {"#7fb8d8", "#eaaf7f", "#7fceb9", "#e5bcd3", "#f2cf7f",
                                                    "#c3cbd6", "#f0e68c", "#b6a6d9", "#a8d08d", "#d9a6a6"};

class MosaicDrawing {
 public:
  explicit MosaicDrawing(const Mosaic& picture) : picture_(picture) {
    const bool complete = std::all_of(picture.cells.begin(), picture.cells.end(),
                                      [&](const auto& row) { return row.size() == picture.columns.size(); });
    if (picture.cells.empty() || picture.columns.empty() || picture.cells.size() != picture.rows.size() || !complete) {
      throw std::invalid_argument("a mosaic needs a cell for each row and column");
    }
    for (const auto& row : picture.cells) {
      for (const Mosaic::Cell& cell : row) {
        if (std::find(categories_.begin(), categories_.end(), cell.category) == categories_.end()) {
          categories_.push_back(cell.category);
        }
      }
    }
  }

  std::string run() {
    y_ += 26;
    body_.label({{margin, y_ - 6}, 21, ink, "start", true}, picture_.heading);
    if (!picture_.subheading.empty()) {
      y_ += line_height;
      body_.label({{margin, y_ - 6}, text_size, quiet_ink}, picture_.subheading);
    }
    draw_legend();
    draw_cells();
    return assembled();
  }

 private:
  const char* fill_of(const std::string& category) const {
    const auto place = std::find(categories_.begin(), categories_.end(), category) - categories_.begin();
    return tile_fills[static_cast<std::size_t>(place) % tile_fills.size()];
  }

  void draw_legend() {
    constexpr double sample = 20;
    double x = margin;
    y_ += 8 + line_height;
    body_.open("g", R"(class="legend")");
    for (const std::string& category : categories_) {
      const double width = sample + 7 + text_width(category, text_size);
      if (x > margin && x + width > mosaic_width - margin) {
        x = margin;
        y_ += line_height + 2;
      }
      body_.box({x, y_ - 17}, sample, 14, 3, fmt::format(R"(fill="{}")", fill_of(category)));
      body_.label({{x + sample + 7, y_ - 5}, text_size, ink}, category);
      x += width + 20;
    }
    body_.close("g");
    y_ += 4;
  }

  void draw_cells() {
    y_ += line_height;
    body_.label({{margin, y_ - 6}, text_size, quiet_ink}, picture_.rows_title);
    double labels = 0;
    for (const std::string& row : picture_.rows) labels = std::max(labels, text_width(row, text_size));
    const double left = margin + labels + 10;
    const double width = (mosaic_width - margin - left) / static_cast<double>(picture_.columns.size());
    for (std::size_t row = picture_.rows.size(); row-- > 0; y_ += row_height) {
      body_.label({{left - 8, y_ + row_height / 2 + 5}, text_size, ink, "end"}, picture_.rows[row]);
      for (std::size_t column = 0; column < picture_.columns.size(); ++column) {
        draw(picture_.cells[row][column], {left + static_cast<double>(column) * width, y_}, width);
      }
    }
    y_ += line_height;
    double free_from = 0;  // labels that would overlap are left out
    for (std::size_t column = 0; column < picture_.columns.size(); ++column) {
      const double middle = left + (static_cast<double>(column) + 0.5) * width;
      const double half = text_width(picture_.columns[column], text_size) / 2;
      if (middle - half < free_from) continue;
      body_.label({{middle, y_ - 5}, text_size, ink, "middle"}, picture_.columns[column]);
      free_from = middle + half + 6;
    }
    y_ += line_height;
    body_.label({{(left + mosaic_width - margin) / 2, y_ - 5}, text_size, quiet_ink, "middle"}, picture_.columns_title);
  }

  void draw(const Mosaic::Cell& cell, Point corner, double width) {
    body_.box(corner, width, row_height, 0,
              fmt::format(R"(class="cell" fill="{}" stroke="{}" stroke-width="1.5")", fill_of(cell.category), paper));
    if (text_width(cell.text, cell_text) > width - 4) return;
    body_.label({{corner.x + width / 2, corner.y + row_height / 2 + 5}, cell_text, ink, "middle"}, cell.text);
  }

  std::string assembled() const {
    return svg_of({picture_.heading, picture_.subheading, mosaic_width, y_ + margin - 6}, body_.str());
  }

  const Mosaic& picture_;
  std::vector<std::string> categories_;
  Canvas body_;
  double y_ = margin - 8;
};

}  // namespace

std::string mosaic(const Mosaic& picture) {
  return MosaicDrawing(picture).run();
}

}  // namespace quadrille::draw
