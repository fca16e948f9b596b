#pragma once

#include <string>

#include "run/backend.hpp"
#include "schedule/schedule.hpp"

namespace quadrille {

// For people: the operation, and in a loop which iteration.
std::string to_text(const Schedule& schedule, Token token);

}  // namespace quadrille
