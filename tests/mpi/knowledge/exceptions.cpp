#include "exceptions.hpp"

#include <algorithm>
#include <array>
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
    std::string what;
    std::string cause;
    words >> kind.collective >> kind.algorithm >> kind.ranks >> kind.count >> what >> cause;
    constexpr std::array names = {"aborts", "division", "messages", "bytes"};
    const auto known = std::find(names.begin(), names.end(), what);
    if (!words || known == names.end()) {
      throw std::runtime_error(path + ": expected COLLECTIVE ALGORITHM RANKS DOUBLES WHAT CAUSE: " + line);
    }
    kind.what = static_cast<Differ>(known - names.begin());
    kinds_.push_back(kind);
  }
}

Exceptions::Differ Exceptions::of(const Call& call, std::string_view algorithm, Rank ranks) const {
  const Kind* const kind = find(call, algorithm, ranks, false);
  return kind ? kind->what : Differ::none;
}

bool Exceptions::aborts(const Call& call, std::string_view algorithm, Rank ranks) const {
  return call.in_place && find(call, algorithm, ranks, true);
}

const Exceptions::Kind* Exceptions::find(const Call& call, std::string_view algorithm, Rank ranks,
                                         bool that_aborts) const {
  const auto fits = [](const std::string& word, std::string_view value) { return word == "*" || word == value; };
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return (kind.what == Differ::none) == that_aborts && fits(kind.collective, name(call.collective)) &&
           fits(kind.algorithm, algorithm) && fits(kind.ranks, std::to_string(ranks)) &&
           fits(kind.count, std::to_string(call.count));
  });
  return found == kinds_.end() ? nullptr : &*found;
}

}  // namespace quadrille::test
