#pragma once

#include <string>
#include <vector>

#include "draw/draw.hpp"

namespace quadrille::draw {

// A small box with a number.
struct Tile {
  std::string text;
  int mark = -1;  // index into Boxes::marks; -1: none
};

// Contains boxes or tiles.
struct Box {
  std::string name;
  std::vector<Box> inside = {};
  std::vector<Tile> tiles = {};
};

struct Boxes {
  Title title;
  std::vector<Box> outermost;
  std::vector<std::string> marks;  // their texts in the legend
};

// Nested boxes as a self-contained SVG. Deterministic.
std::string boxes(const Boxes& picture);

}  // namespace quadrille::draw
