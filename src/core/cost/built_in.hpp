#pragma once

#include <cstdint>

#include "cost/model.hpp"

namespace quadrille::cost {

// The numbers of an ordinary machine, for want of measured ones: a node of the last ten years, and Ethernet between
// nodes. `cores` are those of a node.
Model built_in(std::int32_t cores);

}  // namespace quadrille::cost
