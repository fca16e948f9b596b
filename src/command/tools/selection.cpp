#include "tools/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace quadrille::tools {

namespace {

void require_known(const std::string& collective) {
  if (collective_named(collective)) return;
  std::set<std::string_view> known;
  for (const Algorithm* one : catalogue()) known.insert(name(one->collective));
  throw std::invalid_argument(fmt::format("no collective '{}'; there are {}", collective, fmt::join(known, ", ")));
}

}  // namespace

std::vector<const Algorithm*> selected_algorithms(const std::vector<std::string>& collectives,
                                                  const std::optional<std::string>& algorithm) {
  for (const std::string& collective : collectives) require_known(collective);
  std::vector<const Algorithm*> all;
  std::set<std::string_view> names;
  for (const Algorithm* one : catalogue()) {
    const bool meant = collectives.empty() ||
                       std::find(collectives.begin(), collectives.end(), name(one->collective)) != collectives.end();
    if (!meant) continue;
    names.insert(one->name);
    if (!algorithm || one->name == *algorithm) all.push_back(one);
  }
  if (all.empty()) {
    const std::string of = collectives.empty() ? "" : fmt::format(" of {}", fmt::join(collectives, " or "));
    throw std::invalid_argument(
        fmt::format("no algorithm '{}'{}; there are {}", *algorithm, of, fmt::join(names, ", ")));
  }
  return all;
}

}  // namespace quadrille::tools
