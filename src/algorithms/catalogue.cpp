#include "algorithms/catalogue.hpp"

#include <algorithm>
#include <array>

namespace quadrille {

#define QUADRILLE_ALGORITHM(collective, name) \
  namespace collective {                      \
  extern const Algorithm name;                \
  }
#include "algorithms/catalogue.def"
#undef QUADRILLE_ALGORITHM

namespace {

#define QUADRILLE_ALGORITHM(collective, name) &collective::name,
constexpr std::array all = {
#include "algorithms/catalogue.def"
};
#undef QUADRILLE_ALGORITHM

}  // namespace

std::span<const Algorithm* const> catalogue() {
  return all;
}

std::int32_t place_of(const Algorithm& algorithm) {
  return static_cast<std::int32_t>(std::find(all.begin(), all.end(), &algorithm) - all.begin());
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm* algorithm : all) {
    if (algorithm->collective == collective && algorithm->name == name) return algorithm;
  }
  return nullptr;
}

}  // namespace quadrille
