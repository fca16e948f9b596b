#pragma once

#include <string>
#include <vector>

#include "draw/draw.hpp"

namespace quadrille::draw {

struct HeatCell {
  int row = 0;
  int column = 0;
  double value = 0;
};

// A square matrix of values that are not negative, such as the bytes that ranks send to each other.
struct HeatMap {
  Title title;
  int size = 0;
  std::vector<HeatCell> cells;  // all others are 0; several of one place are added
  std::string rows = "sender";
  std::string columns = "receiver";
  bool bytes = true;           // the unit of values; otherwise they are numbers of messages
  std::string what = "ranks";  // that send
};

// More are drawn as fewer: a square is then the sum over several rows and columns.
inline constexpr int most_heat_squares = 128;

// Rows down, columns across, values by colour on a logarithmic scale; in words, too, where there is room. A
// self-contained SVG. Deterministic.
std::string heat_map(const HeatMap& map);

// Several side by side, with one scale.
std::string heat_maps(const std::vector<HeatMap>& maps);

}  // namespace quadrille::draw
