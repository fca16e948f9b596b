#pragma once

#include <string>
#include <string_view>

namespace quadrille::draw {

// A picture as a file of its own: the elements of the body on paper, with a title and a description for those who don't
// see it.
struct Picture {
  std::string_view title;
  std::string_view description;
  double width = 0;
  double height = 0;
  double radius = 12;  // of the paper's corners
};
std::string svg_of(const Picture& picture, std::string_view body);

}  // namespace quadrille::draw
