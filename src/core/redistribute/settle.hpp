#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace quadrille::redistribute {

// Elements that lie together, and belong together at `home`.
struct Fragment {
  std::int64_t place = 0;
  std::int64_t length = 0;
  std::int64_t home = 0;

  friend bool operator==(const Fragment&, const Fragment&) = default;
};

// Places [place, place + length), one after another in memory.
struct Run {
  std::int64_t place = 0;
  std::byte* memory = nullptr;
  std::int64_t length = 0;
};

// Sorts fragments in place: afterwards the one with the lowest home begins at place 0, and each follows the one before
// it. Runs are in order, the first at place 0, without gaps between their places. Fragments are given in the order of
// their homes and don't overlap; they are used up. Places that no fragment covers are free, and lose what they hold.
//
// Works from low to high: each step brings the next elements to where they stay, by a move where the places are free,
// by a swap with what is there, or, for a shift by few places, by one move around what is in the way. So it moves each
// element a small number of times, in pieces that get shorter only where the fragments are short. There are never more
// fragments than at the beginning. Allocates nothing. Returns how many steps it took.
std::int64_t settle(std::span<const Run> runs, std::int64_t element_bytes, std::span<Fragment> fragments);

}  // namespace quadrille::redistribute
