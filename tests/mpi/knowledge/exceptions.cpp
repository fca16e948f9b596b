#include "exceptions.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace quadrille::test {

Exceptions::Exceptions(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("can't read " + path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    Kind kind;
    std::string cause;
    if (!(words >> kind.collective >> kind.algorithm >> kind.ranks >> kind.count >> cause)) {
      throw std::runtime_error(path + ": expected COLLECTIVE ALGORITHM RANKS DOUBLES CAUSE: " + line);
    }
    kinds_.push_back(kind);
  }
}

bool Exceptions::contain(const Call& call, std::string_view algorithm, Rank ranks) const {
  const auto fits = [](const std::string& word, std::string_view value) { return word == "*" || word == value; };
  return std::any_of(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return fits(kind.collective, name(call.collective)) && fits(kind.algorithm, algorithm) &&
           fits(kind.ranks, std::to_string(ranks)) && fits(kind.count, std::to_string(call.count));
  });
}

}  // namespace quadrille::test
