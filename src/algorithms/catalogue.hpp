#pragma once

#include <span>
#include <string_view>

#include "algorithms/algorithm.hpp"

namespace quadrille {

// Every algorithm, by collective.
std::span<const Algorithm* const> catalogue();

// The one of that name; null if there is none.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

}  // namespace quadrille
