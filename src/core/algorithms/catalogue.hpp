#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "algorithms/algorithm.hpp"

namespace quadrille {

// Every algorithm, by collective.
std::span<const Algorithm* const> catalogue();

// Its place among them.
std::int32_t place_of(const Algorithm& algorithm);

// The one of that name; null if there is none.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

// An algorithm as people write it: a name and, where the algorithm has a width, a number behind it, as in bruck:4. The
// algorithm is null if there is none of that name; the width is 0 if it isn't said, and -1 if it isn't a number.
struct Choice {
  const Algorithm* algorithm = nullptr;
  std::int32_t width = 0;

  explicit operator bool() const { return algorithm != nullptr; }
};
Choice choice_of(Collective collective, std::string_view text);

}  // namespace quadrille
