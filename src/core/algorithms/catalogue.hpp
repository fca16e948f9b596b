#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/algorithm.hpp"

namespace quadrille {

// All algorithms, ordered by collective.
std::span<const Algorithm* const> catalogue();

// Its index in the catalogue.
std::int32_t place_of(const Algorithm& algorithm);

// Null if there is none of that name.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

// How a collective is run: an algorithm and its parameters. Plain bytes that mean the same in every process.
struct Variant {
  static constexpr std::int32_t none = -1;

  std::int32_t place = none;  // of the algorithm in the catalogue; the one behind the last is in_place_exchange
  std::int32_t width = 0;     // see Problem; 0: the algorithm's default
  std::int64_t segment = 0;   // bytes of a segment; 0: the default
  std::int32_t window = 0;    // segments in flight; 0: the default

  explicit operator bool() const { return place != none; }
  const Algorithm& algorithm() const;

  friend bool operator==(const Variant&, const Variant&) = default;
};
inline Variant variant_of(const Algorithm& algorithm, std::int32_t width = 0) {
  return {.place = place_of(algorithm), .width = width};
}

// A variant as people write it: the algorithm's name and, where it has a width, that number, as in bruck:4. Empty if no
// algorithm has that name; the width is 0 if it is left out, and -1 if it is not a number.
Variant variant_named(Collective collective, std::string_view text);
std::string name_of(const Variant& variant);

// The all-to-all with any counts within one buffer. It is a protocol, not a schedule, so it is not in the catalogue.
extern const Algorithm in_place_exchange;

}  // namespace quadrille
