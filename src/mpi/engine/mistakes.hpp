#pragma once

#include <cstdint>
#include <span>

#include "engine/complaint.hpp"

namespace quadrille::engine::mistakes {

// What may be wrong with blocks: counts and displacements in elements, by rank. Each returns the first that it finds.

using Integers = std::span<const std::int64_t>;

// A count or displacement below 0.
Complaint negative(Integers counts, Integers at);
// A sum or product that is not a number of 64 bits.
Complaint excessive(Integers counts, Integers at, std::int64_t element_bytes);
// Blocks that overlap, or lie behind the end of so many elements; -1: there is no end. The numbers are sound.
Complaint misplaced(Integers counts, Integers at, std::int64_t elements);

}  // namespace quadrille::engine::mistakes
