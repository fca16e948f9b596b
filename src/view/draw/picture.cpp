#include "draw/picture.hpp"

#include <fmt/format.h>

#include "draw/canvas.hpp"
#include "draw/palette.hpp"

namespace quadrille::draw {

std::string svg_of(const Picture& picture, std::string_view body) {
  Canvas page;
  page.open("svg", fmt::format(R"(xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" )"
                               R"(height="{1}" role="img" font-family="{2}")",
                               number(picture.width), number(picture.height),
                               "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"));
  page.text_element("title", "", picture.title);
  page.text_element("desc", "", picture.description);
  page.box({0, 0}, picture.width, picture.height, picture.radius, fmt::format(R"(fill="{}")", paper));
  return fmt::format("{}{}</svg>\n", page.str(), body);
}

}  // namespace quadrille::draw
