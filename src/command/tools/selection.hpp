#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"

namespace quadrille::tools {

// The algorithms meant by the words on the command line: all of the named collectives (none: of every one), or only
// the one of a given name. Throws std::invalid_argument that lists what there is.
std::vector<const Algorithm*> selected_algorithms(const std::vector<std::string>& collectives,
                                                  const std::optional<std::string>& algorithm);

}  // namespace quadrille::tools
