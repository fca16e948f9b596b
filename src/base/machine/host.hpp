#pragma once

#include <string>

namespace quadrille::machine {

// This node's name.
std::string host_name();

}  // namespace quadrille::machine
