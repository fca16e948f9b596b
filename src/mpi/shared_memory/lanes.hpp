#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace quadrille::shared {

// How the memory of a node is used by one communicator. Each run of a schedule takes a lane, and in it each rank of the
// node has counters, which it alone sets and which only grow, and slots, which others read. Runs are numbered alike on
// all ranks, whether they use their lane or not, and take the lanes in turn: a run begins only when every rank has
// ended the one that had the lane before. So a schedule finds its lane free, and need not know what came before.
//
// One object a rank; not thread-safe. The memory is shared, all 0 at first, and outlives it.
class Lanes {
 public:
  static constexpr std::int64_t lanes = 4;
  static constexpr std::int32_t counters = 11;

  // What it takes for so many ranks, with slots of so many bytes each.
  static std::int64_t bytes(std::int32_t ranks, std::int64_t slot_bytes);
  // `rank` counts from 0 on this node. Ranks that sleep are woken, which costs a little, only where they are said to.
  enum class Waits : std::uint8_t { awake, asleep };
  Lanes(std::byte* memory, std::int32_t rank, std::int32_t ranks, std::int64_t slot_bytes, Waits waits);

  // Whether the run can begin on this rank. Looks at what others have ended only if it must.
  bool free_for(std::int64_t run) { return run - lanes < all_ended_ || (look_around(), run - lanes < all_ended_); }
  // This rank has ended all runs below.
  void ended_below(std::int64_t run);

  void publish(std::int64_t run, std::int32_t counter, std::int64_t value) {
    this->counter(run, rank_, counter).store(base(run) + value, std::memory_order_release);
    if (waits_ == Waits::asleep) wake(run, counter);
  }
  // A value up to 0 is reached from the start.
  bool reached(std::int64_t run, std::int32_t owner, std::int32_t counter, std::int64_t value) const {
    return value <= 0 || this->counter(run, owner, counter).load(std::memory_order_acquire) >= base(run) + value;
  }
  // Sleeps until the counter is set, if it has not reached the value, or until so long has gone by.
  void sleep(std::int64_t run, std::int32_t owner, std::int32_t counter, std::int64_t value,
             std::chrono::nanoseconds most) const;
  // Where the slots of a rank begin, if they take so many bytes in all: short ones lie beside the counters, and come
  // with them.
  std::byte* slots(std::int64_t run, std::int32_t owner, std::int64_t bytes) const {
    return seat(run, owner) + (bytes <= short_bytes ? short_slot : header_bytes);
  }

  std::int64_t slot_bytes() const { return slot_bytes_; }

 private:
  using Counter = std::atomic<std::int64_t>;
  static_assert(sizeof(Counter) == sizeof(std::int64_t) && Counter::is_always_lock_free);

  // A rank's seat in a lane: a cache line of counters and short slots, another of counters and of how many sleep on
  // them, and the slots.
  static constexpr std::int64_t line = 64;
  static constexpr std::int32_t first_counters = 4;
  static constexpr std::int64_t short_slot = first_counters * std::int64_t{sizeof(Counter)};
  static constexpr std::int64_t short_bytes = line - short_slot;
  static constexpr std::int64_t header_bytes = 2 * line;
  static_assert(counters < first_counters + line / static_cast<std::int64_t>(sizeof(Counter)));

  std::byte* seat(std::int64_t run, std::int32_t owner) const {
    return seats_ + ((run % lanes) * ranks_ + owner) * seat_bytes_;
  }
  Counter& counter(std::int64_t run, std::int32_t owner, std::int32_t counter) const {
    const std::int64_t place = counter < first_counters ? counter : counter + (line - short_slot) / 8;
    return reinterpret_cast<Counter*>(seat(run, owner))[place];
  }
  Counter& sleepers(std::int64_t run, std::int32_t owner) const { return counter(run, owner, counters); }
  void wake(std::int64_t run, std::int32_t counter) const;
  // Runs that a rank has ended: all below this number.
  Counter& ended(std::int32_t rank) const { return *reinterpret_cast<Counter*>(memory_ + rank * line); }
  // Where the counters of a lane stand when a run begins, at most. It follows from the run's number, so that ranks
  // agree on it whatever became of the runs before.
  static std::int64_t base(std::int64_t run) { return run / lanes * most_counter_span; }
  void look_around();

  std::byte* memory_;
  std::byte* seats_;
  std::int32_t rank_;
  std::int32_t ranks_;
  std::int64_t slot_bytes_;
  std::int64_t seat_bytes_;
  Waits waits_;
  std::int64_t all_ended_ = 0;  // every rank has ended all runs below, as far as known
  std::int64_t own_ended_ = 0;  // this rank has
};

// Where the slot begins that follows one of so many bytes.
std::int64_t next_slot(std::int64_t offset, std::int64_t bytes);

}  // namespace quadrille::shared
