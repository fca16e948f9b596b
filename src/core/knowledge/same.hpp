#pragma once

#include <bit>
#include <span>
#include <string_view>

#include "algorithms/catalogue.hpp"
#include "knowledge/library.hpp"

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

// A call that a library of MPICH's kind runs by one algorithm. Such divide the data of a bcast by bytes.
inline Choice choice_of_one(std::span<const Same> known, const Case& asked, std::string_view theirs) {
  Case one = asked;
  one.in_place = false;  // the messages are the same
  if (asked.collective == Collective::bcast) one = as_case({one, {}});
  const Variant variant = variant_that_is(known, asked.collective, theirs, asked.ranks);
  Choice choice{.name = theirs, .steps = {}};
  if (variant) choice.steps.push_back({one, variant});
  return choice;
}

}  // namespace quadrille::knowledge
