#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "redistribute/elements.hpp"

namespace quadrille::redistribute {

// Contiguous elements, with their final position.
struct Fragment {
  std::int64_t place = 0;
  std::int64_t length = 0;
  std::int64_t home = 0;

  friend bool operator==(const Fragment&, const Fragment&) = default;
};

// Places [place, place + length), one after another in memory.
struct Run {
  std::int64_t place = 0;
  Elements elements;
  std::int64_t length = 0;
};

// Sorts fragments in place: afterwards they are contiguous from place 0 on, in the order of their homes. Runs are
// sorted, the first at place 0, without gaps between their places. Fragments must be sorted by home and disjoint; they
// are consumed. Places not covered by a fragment are free and are overwritten.
//
// Works from low to high: each step brings the next elements to their final places, by a move if the places are free,
// by a swap with their contents, or, for a shift by few places, by a move with the displaced elements saved aside. So
// each element moves a small number of times, in pieces that get shorter only if the fragments are short. The number of
// fragments never increases. Allocates nothing. Elements are of `element_bytes` packed bytes. Returns the number of
// steps.
std::int64_t settle(std::span<const Run> runs, std::int64_t element_bytes, std::span<Fragment> fragments);

}  // namespace quadrille::redistribute
