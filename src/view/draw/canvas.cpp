#include "draw/canvas.hpp"

#include <cmath>

#include "text/markup.hpp"

namespace quadrille::draw {

std::string number(double value) {
  const double tenths = std::round(value * 10);
  const double clean = tenths == 0 ? 0 : tenths / 10;  // no "-0"
  return fmt::format("{}", clean);
}

double text_width(std::string_view text, double size) {
  double ems = 0;
  for (char c : text) {
    const bool narrow = std::string_view("fijlrtI.,:;'|!()[] ").find(c) != std::string_view::npos;
    const bool wide = std::string_view("mwMW").find(c) != std::string_view::npos;
    ems += narrow ? 0.36 : wide ? 0.9 : 0.61;
  }
  return size * ems;
}

void Canvas::open(std::string_view tag, std::string_view attributes) {
  out_ += fmt::format("<{}{}{}>\n", tag, attributes.empty() ? "" : " ", attributes);
}

void Canvas::close(std::string_view tag) {
  out_ += fmt::format("</{}>\n", tag);
}

void Canvas::element(std::string_view tag, std::string_view attributes) {
  out_ += fmt::format("<{} {}/>\n", tag, attributes);
}

void Canvas::text_element(std::string_view tag, std::string_view attributes, std::string_view text) {
  out_ += fmt::format("<{}{}{}>{}</{}>\n", tag, attributes.empty() ? "" : " ", attributes, text::escaped(text), tag);
}

void Canvas::line(Point from, Point to, std::string_view attributes) {
  element("line", fmt::format(R"(x1="{}" y1="{}" x2="{}" y2="{}" {})", number(from.x), number(from.y), number(to.x),
                              number(to.y), attributes));
}

void Canvas::circle(Point centre, double radius, std::string_view attributes) {
  element("circle",
          fmt::format(R"(cx="{}" cy="{}" r="{}" {})", number(centre.x), number(centre.y), number(radius), attributes));
}

void Canvas::box(Point corner, double width, double height, double radius, std::string_view attributes) {
  element("rect", fmt::format(R"(x="{}" y="{}" width="{}" height="{}" rx="{}" {})", number(corner.x), number(corner.y),
                              number(width), number(height), number(radius), attributes));
}

void Canvas::label(const Label& label, std::string_view text) {
  text_element("text",
               fmt::format(R"(x="{}" y="{}" font-size="{}" fill="{}" text-anchor="{}"{})", number(label.at.x),
                           number(label.at.y), number(label.size), label.colour, label.anchor,
                           label.bold ? R"( font-weight="600")" : ""),
               text);
}

}  // namespace quadrille::draw
