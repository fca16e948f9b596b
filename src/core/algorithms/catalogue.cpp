#include "algorithms/catalogue.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace quadrille {

#define QUADRILLE_ALGORITHM(collective, name) \
  namespace collective {                      \
  extern const Algorithm name;                \
  }
#include "algorithms/catalogue.def"
#undef QUADRILLE_ALGORITHM

namespace {

#define QUADRILLE_ALGORITHM(collective, name) &collective::name,
constexpr std::array listed = {
#include "algorithms/catalogue.def"
};
#undef QUADRILLE_ALGORITHM

}  // namespace

std::span<const Algorithm* const> catalogue() {
  return listed;
}

std::int32_t place_of(const Algorithm& algorithm) {
  return static_cast<std::int32_t>(std::find(listed.begin(), listed.end(), &algorithm) - listed.begin());
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm* algorithm : listed) {
    if (algorithm->collective == collective && algorithm->name == name) return algorithm;
  }
  return nullptr;
}

Choice choice_of(Collective collective, std::string_view text) {
  const std::size_t colon = text.find(':');
  Choice choice{find_algorithm(collective, text.substr(0, colon)), 0};
  if (colon == std::string_view::npos) return choice;
  const std::string_view number = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), choice.width);
  const bool good = error == std::errc{} && end == number.data() + number.size() && choice.width > 0;
  if (!good) choice.width = -1;
  return choice;
}

}  // namespace quadrille
