#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"

namespace quadrille::tools {

// The algorithms selected on the command line: all of the named collectives (none named: of all), or only those with
// the given name. Throws std::invalid_argument that lists the valid names.
std::vector<const Algorithm*> selected_algorithms(const std::vector<std::string>& collectives,
                                                  const std::optional<std::string>& algorithm);

}  // namespace quadrille::tools
