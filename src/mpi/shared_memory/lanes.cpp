#include "shared_memory/lanes.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <limits>

namespace quadrille::shared {

namespace {

constexpr std::int64_t slot_alignment = 16;  // as malloc's: fits every basic type

constexpr std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// What the system looks at: half of a counter, which changes with it.
void* low_half(std::atomic<std::int64_t>& counter) {
  static_assert(std::endian::native == std::endian::little);
  return &counter;
}

}  // namespace

std::int64_t Lanes::bytes(std::int32_t ranks, std::int64_t slot_bytes) {
  return ranks * (line + lanes * (header_bytes + rounded_up(slot_bytes, line)));
}

Lanes::Lanes(std::byte* memory, std::int32_t rank, std::int32_t ranks, std::int64_t slot_bytes, Waits waits)
    : memory_(memory),
      seats_(memory + ranks * line),
      rank_(rank),
      ranks_(ranks),
      slot_bytes_(slot_bytes),
      seat_bytes_(header_bytes + rounded_up(slot_bytes, line)),
      waits_(waits) {}

void Lanes::look_around() {
  // What a rank has read from a lane it has read before it said so.
  all_ended_ = own_ended_;
  for (std::int32_t rank = 0; rank < ranks_; ++rank) {
    all_ended_ = std::min(all_ended_, ended(rank).load(std::memory_order_acquire));
  }
}

void Lanes::ended_below(std::int64_t run) {
  if (run == own_ended_) return;
  own_ended_ = run;
  ended(rank_).store(run, std::memory_order_release);
}

void Lanes::wake(std::int64_t run, std::int32_t counter) const {
  // Either this sees the sleeper, or the sleeper sees the counter.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleepers(run, rank_).load(std::memory_order_relaxed) == 0) return;
  syscall(SYS_futex, low_half(this->counter(run, rank_, counter)), FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr,
          nullptr, 0);
}

void Lanes::sleep(std::int64_t run, std::int32_t owner, std::int32_t counter, std::int64_t value,
                  std::chrono::nanoseconds most) const {
  Counter& watched = this->counter(run, owner, counter);
  Counter& asleep = sleepers(run, owner);
  asleep.fetch_add(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::int64_t seen = watched.load(std::memory_order_relaxed);
  if (seen < base(run) + value) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
    const timespec time{seconds.count(), (most - seconds).count()};
    syscall(SYS_futex, low_half(watched), FUTEX_WAIT, static_cast<std::uint32_t>(seen), &time, nullptr, 0);
  }
  asleep.fetch_sub(1, std::memory_order_relaxed);
}

std::int64_t next_slot(std::int64_t offset, std::int64_t bytes) {
  return rounded_up(offset + bytes, slot_alignment);
}

}  // namespace quadrille::shared
