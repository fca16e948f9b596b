#pragma once

#include <bit>
#include <span>
#include <string_view>

#include "algorithms/catalogue.hpp"

namespace quadrille::knowledge {

// An algorithm of the catalogue that sends the same messages as one of a library's.
struct Same {
  Collective collective;
  std::string_view theirs;
  std::string_view ours;
  std::int32_t width = 0;
  bool powers_of_two = false;  // only where the number of ranks is one
};

inline bool is_power_of_two(Rank ranks) {
  return std::has_single_bit(static_cast<std::uint32_t>(ranks));
}

// None if there is none for so many ranks.
inline Variant variant_that_is(std::span<const Same> known, Collective collective, std::string_view theirs,
                               Rank ranks) {
  for (const Same& one : known) {
    if (one.collective != collective || one.theirs != theirs) continue;
    if (one.powers_of_two && !is_power_of_two(ranks)) return {};
    Variant variant = variant_named(collective, one.ours);
    variant.width = one.width;
    return variant;
  }
  return {};
}

}  // namespace quadrille::knowledge
