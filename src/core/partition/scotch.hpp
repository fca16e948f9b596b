#pragma once

#include <optional>

#include "placement/mapper.hpp"

namespace quadrille::placement {

// By SCOTCH, first among racks, then among the nodes of each; nothing where this was built without it. A layer of its
// own, so that the library, which runs inside programs, does not bring SCOTCH along.
std::optional<Placement> by_scotch(const Mapping& mapping);

}  // namespace quadrille::placement
