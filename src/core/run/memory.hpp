#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "layout/layout.hpp"
#include "run/backend.hpp"
#include "schedule/schedule.hpp"

namespace quadrille {

// right = left op right, for so many consecutive elements of the reduction's type.
using ReduceFunction = std::function<void(const void* left, void* right, std::int64_t count)>;
// target = left op right, where the target may be either.
using CombineFunction = void (*)(const void* left, const void* right, void* target, std::int64_t count);

// The addresses that a run gives to the names of a schedule. Borrows the memory and the layouts.
struct Binding {
  Unit unit = Unit::bytes;
  std::int64_t scale = 1;  // all offsets and lengths of the schedule are so many times as long; see Algorithm::scales
  std::vector<Typed> input;
  std::vector<Typed> output;
  std::vector<Typed> scratch;
  std::vector<Typed> slots;
  std::vector<Typed> boxes;
  std::vector<Typed> staging;        // all places of each block
  std::vector<std::int64_t> chunks;  // units, by block of chunk loops; none: as the schedule says
  ReduceFunction reduce;
  CombineFunction combine = nullptr;  // does the same, if there is one

  // Throws std::out_of_range for a block that was not bound.
  const Typed& block(Buffer buffer, std::int32_t index) const;
  // Units that a block holds.
  std::int64_t units(Buffer buffer, std::int32_t index) const;
  // Units of its chunks.
  std::int64_t chunk(std::int32_t block, std::int64_t most) const {
    return chunks.empty() ? most : std::min(most, chunks[static_cast<std::size_t>(block)]);
  }
};

// A piece where it lies.
struct Placed {
  Typed block;
  std::int64_t begin;   // of packed bytes
  std::int64_t length;  // of packed bytes

  // Where the bytes lie one after another; null if they have gaps.
  std::byte* contiguous() const;
  // Of pieces that are whole elements.
  std::byte* first_element() const;
  std::int64_t elements() const;
};
Placed place(const Typed& block, Unit unit, const Piece& piece);
Placed place(const Binding& binding, const Piece& piece);

// Local work on bound memory.
void copy(const Placed& source, const Placed& target);
void reduce(const Binding& binding, const Placed& left, const Placed& right, const Placed& target);

// A message of several pieces, packed one after another; `packed` holds its bytes [begin, end) alone.
std::int64_t packed_bytes(std::span<const Placed> pieces);
void pack(std::span<const Placed> pieces, std::int64_t begin, std::int64_t end, std::byte* packed);
void unpack(std::span<const Placed> pieces, std::int64_t begin, std::int64_t end, const std::byte* packed);

}  // namespace quadrille
