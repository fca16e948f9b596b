#pragma once

#include <vector>

#include "algorithms/catalogue.hpp"

namespace quadrille::tools {

// To standard output: a table of 100 columns at most, or JSON.
void print_algorithms(const std::vector<const Algorithm*>& algorithms, bool json);

}  // namespace quadrille::tools
