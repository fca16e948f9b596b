#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace quadrille {

using Rank = std::int32_t;

// An owner: the rank that runs the schedule.
inline constexpr Rank self = -1;

// A length: up to the end of the block, which is known once the block is bound.
inline constexpr std::int64_t whole = -1;

// input and output are the caller's, scratch is the run's own, a slot is memory that other ranks can reach
// (shared memory of a node, or a one-sided window).
enum class Buffer : std::uint8_t { input, output, scratch, slot };

// A half-open range of units.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool empty() const { return begin >= end; }
  friend bool operator==(const Range&, const Range&) = default;
};

// Data is named, never pointed at: a range of one block of one buffer of one rank. Blocks get their addresses when a
// run starts. Offsets and lengths count the schedule's unit (see Unit).
struct Region {
  Buffer buffer = Buffer::input;
  bool clipped = false;    // in a chunk loop: the last iteration takes only what is left of the block it runs over
  Rank owner = self;       // another rank only for slots
  std::int32_t block = 0;  // v and w collectives have a block for each peer
  std::int32_t cycle = 0;  // in a loop: the offset starts again every `cycle` iterations; 0: never
  std::int64_t offset = 0;
  std::int64_t length = whole;
  std::int64_t stride = 0;  // in a loop: what an iteration adds to the offset

  // A range inside this one.
  Region part(std::int64_t from, std::int64_t units) const {
    if (clipped && (from != 0 || units != length)) throw std::logic_error("a chunk of unknown length can't be cut");
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

// What a region covers in one iteration.
inline Range range_at(const Region& region, std::int64_t iteration) {
  const std::int64_t begin = region.offset_at(iteration);
  const bool open = region.length == whole;
  return {begin, open ? std::numeric_limits<std::int64_t>::max() : begin + region.length};
}

}  // namespace quadrille
