#pragma once

#include <cstdint>
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
  enum class Unit : std::uint8_t { bytes, messages, rate, seconds };

  Title title;
  int size = 0;
  std::vector<HeatCell> cells;  // all others are 0; several of one place are added, of rates and seconds averaged
  std::string rows = "sender";
  std::string columns = "receiver";
  Unit unit = Unit::bytes;
  std::vector<std::string> names = {};  // of the rows; none: numbers
  std::string what = "ranks";           // that send
};

// More are drawn as fewer: a square is then the sum over several rows and columns, of rates and seconds the mean.
inline constexpr int most_heat_squares = 128;

// Rows down, columns across, values by colour on a logarithmic scale; in words, too, where there is room. A
// self-contained SVG. Deterministic.
std::string heat_map(const HeatMap& map);
// Several of them, side by side; those of one unit have one scale.
std::string heat_maps(const std::vector<HeatMap>& maps);

}  // namespace quadrille::draw
