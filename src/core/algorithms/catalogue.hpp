#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "algorithms/algorithm.hpp"

namespace quadrille {

// All algorithms, ordered by collective.
std::span<const Algorithm* const> catalogue();

// Its index in the catalogue.
std::int32_t place_of(const Algorithm& algorithm);

// Null if there is none of that name.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

// An algorithm and its width, parsed from a text such as ring or bruck:4. The algorithm is null if there is none of
// that name; the width is 0 if missing, and -1 if it is not a number.
struct Choice {
  const Algorithm* algorithm = nullptr;
  std::int32_t width = 0;

  explicit operator bool() const { return algorithm != nullptr; }
};
Choice choice_of(Collective collective, std::string_view text);

}  // namespace quadrille
