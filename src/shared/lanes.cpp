#include "shared/lanes.hpp"

#include <algorithm>

namespace quadrille::shared {

namespace {

constexpr std::int64_t slot_alignment = 16;  // as malloc's: fits every basic type

constexpr std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

std::int64_t Lanes::bytes(std::int32_t ranks, std::int64_t slot_bytes) {
  return ranks * (line + lanes * (header_bytes + rounded_up(slot_bytes, line)));
}

Lanes::Lanes(std::byte* memory, std::int32_t rank, std::int32_t ranks, std::int64_t slot_bytes)
    : memory_(memory),
      seats_(memory + ranks * line),
      rank_(rank),
      ranks_(ranks),
      slot_bytes_(slot_bytes),
      seat_bytes_(header_bytes + rounded_up(slot_bytes, line)) {}

void Lanes::look_around() {
  // What a rank has read from a lane it has read before it said so.
  all_ended_ = own_ended_;
  for (std::int32_t rank = 0; rank < ranks_; ++rank) {
    all_ended_ = std::min(all_ended_, ended(rank).load(std::memory_order_acquire));
  }
}

void Lanes::end(std::int64_t run, std::int64_t span) {
  bases_[static_cast<std::size_t>(run % lanes)] += span;
  ended_after_[static_cast<std::size_t>(run % lanes)] = true;
  const std::int64_t before = own_ended_;
  while (ended_after_[static_cast<std::size_t>(own_ended_ % lanes)]) {
    ended_after_[static_cast<std::size_t>(own_ended_++ % lanes)] = false;
  }
  if (own_ended_ != before) ended(rank_).store(own_ended_, std::memory_order_release);
}

std::vector<std::int64_t> slot_offsets(std::span<const std::int64_t> bytes) {
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t one : bytes) offsets.push_back(rounded_up(offsets.back() + one, slot_alignment));
  return offsets;
}

}  // namespace quadrille::shared
