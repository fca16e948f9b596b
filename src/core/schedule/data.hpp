#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace quadrille {

using Rank = std::int32_t;

// As an owner: the rank that runs the schedule.
inline constexpr Rank self = -1;

// As a length: to the end of the block, known at binding time.
inline constexpr std::int64_t whole = -1;

// input and output belong to the caller, scratch to the run. Slots lie in the shared memory of a node, whose ranks read
// and write them. Boxes lie in a window: a peer deposits short data there, and the owner collects it. So does staging:
// a peer puts data there before the owner has called, and the owner copies it out. Where the caller's output lies in a
// window, peers put into it and get from it.
enum class Buffer : std::uint8_t { input, output, scratch, slot, box, staging };
inline constexpr std::size_t buffers = 6;

// A half-open range of units.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool empty() const { return begin >= end; }
  friend bool operator==(const Range&, const Range&) = default;
};

// Symbolic, not a pointer: a range of one block of one buffer of one rank. Blocks are bound to addresses when a run
// starts. Offsets and lengths are in the schedule's unit (see Unit).
struct Region {
  Buffer buffer = Buffer::input;
  bool clipped = false;    // in a chunk loop: limited to the rest of the block in the last iteration
  Rank owner = self;       // another rank for slots, boxes and staging, and for output in a window
  std::int32_t block = 0;  // v and w collectives have a block for each peer
  std::int32_t cycle = 0;  // in a loop: the offset repeats every `cycle` iterations; 0: never
  std::int64_t offset = 0;
  std::int64_t length = whole;
  std::int64_t stride = 0;  // in a loop: increment of the offset per iteration

  // A range inside this one.
  Region part(std::int64_t from, std::int64_t units) const {
    if (clipped && (from != 0 || units != length)) throw std::logic_error("a chunk of unknown length can't be divided");
    Region region = *this;
    region.offset += from;
    region.length = units;
    return region;
  }
  Region part(const Range& range) const { return part(range.begin, range.end - range.begin); }

  std::int64_t offset_at(std::int64_t iteration) const {
    return offset + stride * (cycle > 0 ? iteration % cycle : iteration);
  }

  bool same_block(const Region& other) const {
    return buffer == other.buffer && owner == other.owner && block == other.block;
  }

  friend bool operator==(const Region&, const Region&) = default;
};

inline bool overlap(const Range& a, const Range& b) {
  return a.begin < b.end && b.begin < a.end;
}

// The range of a region in one iteration.
inline Range range_at(const Region& region, std::int64_t iteration) {
  const std::int64_t begin = region.offset_at(iteration);
  const bool open = region.length == whole;
  return {begin, open ? std::numeric_limits<std::int64_t>::max() : begin + region.length};
}

}  // namespace quadrille
