#pragma once

#include <string>
#include <vector>

namespace quadrille {

struct Rack {
  std::string name;
  std::vector<std::string> hosts;
};

// A file that assigns hosts to racks: lines NAME: HOST HOST ..., # begins a comment. Throws std::invalid_argument.
std::vector<Rack> read_racks(const std::string& path);

}  // namespace quadrille
