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

}  // namespace quadrille
