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

const Algorithm& Variant::algorithm() const {
  return static_cast<std::size_t>(place) == listed.size() ? in_place_exchange
                                                          : *listed.at(static_cast<std::size_t>(place));
}

Variant variant_named(Collective collective, std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* const found = std::find_if(listed.begin(), listed.end(), [&](const Algorithm* algorithm) {
    return algorithm->collective == collective && algorithm->name == name;
  });
  if (found == listed.end()) return {};
  Variant variant{.place = static_cast<std::int32_t>(found - listed.begin())};
  if (colon == std::string_view::npos) return variant;
  const std::string_view number = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), variant.width);
  const bool good = error == std::errc{} && end == number.data() + number.size() && variant.width > 0;
  if (!good) variant.width = -1;
  return variant;
}

std::string name_of(const Variant& variant) {
  const std::string name(variant.algorithm().name);
  return variant.width > 0 ? name + ":" + std::to_string(variant.width) : name;
}

const Algorithm in_place_exchange = {
    .collective = Collective::alltoallv,
    .name = "in place, any counts",
    .summary = "",
    .paper = "",
    .steps = "",
    .cost = "",
    .scratch = "",
    .restrictions = {},
    .build = nullptr,
    .predict = nullptr,
    .scratch_units = no_scratch,
    .outline = no_outline,
};

}  // namespace quadrille
