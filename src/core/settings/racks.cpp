#include "settings/racks.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace quadrille {

std::vector<Rack> read_racks(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(fmt::format("QUADRILLE_RACKS={}: can't read it", path));
  std::vector<Rack> racks;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0) {
      throw std::invalid_argument(fmt::format("{}:{}: expected a rack's name, a colon and its hosts", path, number));
    }
    std::istringstream hosts(line.substr(colon + 1));
    racks.push_back({line.substr(0, colon), {std::istream_iterator<std::string>(hosts), {}}});
  }
  return racks;
}

}  // namespace quadrille
