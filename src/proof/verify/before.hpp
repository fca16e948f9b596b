#pragma once

#include <cstddef>
#include <span>

#include "verify/happens_before.hpp"

namespace quadrille::verify {

// Two operations, of which one must always be complete before the other is posted.
struct Pair {
  HappensBefore::Id earlier;
  HappensBefore::Id later;
};

// The first pair that is not so ordered; -1: all are.
std::ptrdiff_t first_unordered(const HappensBefore& relation, std::span<const Pair> pairs);

// By searching the relation alone, which takes long for many ranks: what the former is tested against.
bool found_ordered(const HappensBefore& relation, const Pair& pair);

}  // namespace quadrille::verify
