#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "schedule/data.hpp"

namespace quadrille {

// How a rank that swaps data in place keeps to its budget: it holds what comes from `partners` ranks at a time, and has
// `window` chunks under way with each. The two ranks of a pair must have chunks of one size; the rest is their own.
struct Chunking {
  std::int64_t chunk = 0;  // bytes; 0: the budget is too small
  std::int32_t window = 1;
  Rank partners = 1;
  std::int64_t bytes = 0;  // all that it takes

  // Bytes of the chunks that it holds, where none needs a spare.
  std::int64_t ring() const { return std::int64_t{partners} * window * chunk; }
};

struct ChunkingNeeds {
  Rank ranks = 2;
  Rank partners = std::numeric_limits<Rank>::max();  // no more
  bool packed = false;                               // messages must be packed
  bool packed_anywhere = false;                      // perhaps only on another rank, which must have the same chunks
  bool spare = false;                                // each partner needs room for a chunk more than are under way
  std::int64_t longest = 1LL << 30;                  // no chunk is longer
};

// How a rank whose messages must be packed takes part in an irregular exchange in place: how many are under way at a
// time, and how long they are. The ranks take the shortest part of them all; the rest is their own affair.
struct Packing {
  std::int64_t part = 0;  // bytes; 0: the budget is too small
  std::int64_t sends = 0;
  std::int64_t receives = 0;
  std::int64_t bytes = 0;  // all that they take
};

// The bytes that a call may take on a rank beyond the caller's buffers, for scratch and packing, and all that follows
// from that limit. Plain bytes.
class Budget {
 public:
  // No limit.
  constexpr Budget() = default;
  // 0: no limit.
  constexpr explicit Budget(std::int64_t bytes) : bytes_(bytes) {}
  // Where none is set, an exchange in place has a hundredth of its data, but no less than this.
  static constexpr std::int64_t least_in_place = 64 << 10;
  static Budget in_place(std::int64_t data_bytes) { return Budget(std::max(data_bytes / 100, least_in_place)); }
  // With this much any data can be swapped, if slowly.
  static constexpr std::int64_t least_to_swap = 256;

  constexpr bool limited() const { return bytes_ > 0; }
  constexpr std::int64_t bytes() const { return bytes_; }
  // What may be taken if both limits hold.
  constexpr Budget within(Budget other) const {
    return !limited() ? other : !other.limited() ? *this : Budget(std::min(bytes_, other.bytes_));
  }

  // The longest part that a message is cut into, since a part may have to be packed; both ends cut alike. `longest` is
  // what would be allowed without a limit; so it is for segments.
  std::int64_t part(std::int64_t longest) const;
  // Several segments wait in scratch at a time: they are so short that this does not matter.
  std::int64_t segment(std::int64_t longest) const;
  // Packed messages under way in each direction.
  static constexpr std::int64_t packed_in_flight = 2;
  // The most that a run with so much scratch takes on any rank, whether its messages are packed there or not.
  std::int64_t needed(std::int64_t scratch_bytes, std::int64_t longest_part) const;

  // How data is swapped in place.
  Chunking chunking(const ChunkingNeeds& needs) const;

  // How messages are packed that no schedule is for; they take about half of the budget, and leave room for `kept`
  // bytes in a block. No part is longer than `longest`.
  Packing packing(std::int64_t kept, std::int64_t longest) const;
  // The budget that is enough for it.
  static std::int64_t least_to_pack(std::int64_t kept);

  friend constexpr bool operator==(const Budget&, const Budget&) = default;

 private:
  std::int64_t bytes_ = 0;
};

}  // namespace quadrille
