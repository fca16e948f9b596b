#pragma once

#include <string>

namespace quadrille::interpose {

// The program and its arguments, as far as they are worth a line.
std::string command_line();

}  // namespace quadrille::interpose
