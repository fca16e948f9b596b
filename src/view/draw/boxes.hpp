#pragma once

#include <string>
#include <vector>

#include "draw/draw.hpp"

namespace quadrille::draw {

// A small box with a number.
struct Tile {
  std::string text;
  int mark = -1;  // one of the picture's; -1: none
};

// Has boxes or tiles in it.
struct Box {
  std::string name;
  std::vector<Box> inside = {};
  std::vector<Tile> tiles = {};
};

struct Boxes {
  Title title;
  std::vector<Box> outermost;
  std::vector<std::string> marks;  // what they say, for the legend
};

// Boxes in boxes as an SVG that stands alone. Same input, same text.
std::string boxes(const Boxes& picture);

}  // namespace quadrille::draw
