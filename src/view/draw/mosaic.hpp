#pragma once

#include <string>
#include <vector>

namespace quadrille::draw {

// A table whose cells are coloured by what they stand for, such as the fastest algorithm.
struct Mosaic {
  struct Cell {
    std::string category;
    std::string text;
  };

  std::string heading;
  std::string subheading;
  std::string columns_title;
  std::string rows_title;
  std::vector<std::string> columns;
  std::vector<std::string> rows;         // from the bottom
  std::vector<std::vector<Cell>> cells;  // by row, as many in each as there are columns
};

// As a self-contained SVG, with a legend in the order in which categories occur. Texts that are too long for their
// cells are left out. Deterministic. Throws std::invalid_argument if there are no cells, or too few.
std::string mosaic(const Mosaic& picture);

}  // namespace quadrille::draw
