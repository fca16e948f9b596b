#pragma once

#include <string>
#include <string_view>

#include "algorithms/collective.hpp"

namespace quadrille {

// The collective with this name. Throws std::invalid_argument, with the nearest name, if there is none.
Collective require_collective(std::string_view name);

// What an error says of a name that no algorithm of the collective has, with the nearest one or all of them.
std::string no_such_algorithm(Collective collective, std::string_view name);

}  // namespace quadrille
