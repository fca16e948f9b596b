#include "tools/selection.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

#include "algorithms/naming.hpp"
#include "text/nearest.hpp"

namespace quadrille::tools {

std::vector<const Algorithm*> selected_algorithms(const std::vector<std::string>& collectives,
                                                  const std::optional<std::string>& algorithm) {
  std::set<Collective> meant;
  for (const std::string& collective : collectives) meant.insert(require_collective(collective));
  std::vector<const Algorithm*> all;
  std::set<std::string> names;
  for (const Algorithm* one : catalogue()) {
    if (!meant.empty() && !meant.contains(one->collective)) continue;
    names.emplace(one->name);
    if (!algorithm || one->name == *algorithm) all.push_back(one);
  }
  if (all.empty()) {
    const std::string of = collectives.empty() ? "" : fmt::format(" of {}", fmt::join(collectives, " or "));
    const std::string others = fmt::format("; there are {}", fmt::join(names, ", "));
    throw std::invalid_argument(fmt::format("no algorithm '{}'{}{}", *algorithm, of,
                                            text::did_you_mean(*algorithm, {names.begin(), names.end()}, others)));
  }
  return all;
}

}  // namespace quadrille::tools
