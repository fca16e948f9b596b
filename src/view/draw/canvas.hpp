#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace quadrille::draw {

// Pixels at the natural width; text is still readable at half of it.
inline constexpr double margin = 18;
inline constexpr double text_size = 15;
inline constexpr double line_height = 22;

struct Point {
  double x = 0;
  double y = 0;
};

// A coordinate, to a tenth of a pixel.
std::string number(double value);

// The approximate width of a text, since fonts differ.
double text_width(std::string_view text, double size);

// A text to be placed.
struct Label {
  Point at;
  double size = 0;
  std::string_view colour;
  std::string_view anchor = "start";
  bool bold = false;
};

// Writes SVG elements. Attributes are given as text: `stroke="red"`.
class Canvas {
 public:
  void open(std::string_view tag, std::string_view attributes);
  void close(std::string_view tag);
  void element(std::string_view tag, std::string_view attributes);
  void text_element(std::string_view tag, std::string_view attributes, std::string_view text);

  void line(Point from, Point to, std::string_view attributes = "");
  void circle(Point centre, double radius, std::string_view attributes = "");
  void box(Point corner, double width, double height, double radius, std::string_view attributes = "");
  void label(const Label& label, std::string_view text);

  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

}  // namespace quadrille::draw
