#include "engine/waiting.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace quadrille::engine {

namespace {

using namespace std::chrono_literals;

}  // namespace

Patience Patience::of(bool more_ranks_than_cores) {
  if (more_ranks_than_cores)
    return {.spin = 0ns,
            .yield = 20ms,
            .yield_if_woken = 50us,
            .sleep = 50us,
            .longest_sleep = 1ms,
            .longest_if_woken = 10ms};
  return {.spin = 20us,
          .yield = 20ms,
          .yield_if_woken = 20ms,
          .sleep = 50us,
          .longest_sleep = 1ms,
          .longest_if_woken = 1ms};
}

Patience Patience::with_mpi() {
  return {.spin = 0ns,
          .yield = 2ms,
          .yield_if_woken = 2ms,
          .sleep = 50us,
          .longest_sleep = 100us,
          .longest_if_woken = 100us};
}

void Waiter::idle() {
  const std::chrono::nanoseconds nap = rest(false);
  if (nap > 0ns) std::this_thread::sleep_for(nap);
}

std::chrono::nanoseconds Waiter::rest(bool woken) {
  // The clock costs as much as a look at MPI: while spinning, the first looks go without.
  const int looks_without_clock = patience_.spin > 0ns ? 16 : 0;
  if (looks_ < looks_without_clock) {
    ++looks_;
    return 0ns;
  }
  const auto now = Clock::now();
  if (looks_ == looks_without_clock) {
    ++looks_;
    since_ = now;
  }
  const auto idle_for = now - since_;
  if (idle_for < patience_.spin) return 0ns;
  if (idle_for < (woken ? patience_.yield_if_woken : patience_.yield)) {
    sched_yield();
    return 0ns;
  }
  // The longer it has waited, the less a little more matters; many ranks that look often keep the others from working.
  // Who is woken looks around only for the sake of the program's own messages, half as often from sleep to sleep.
  constexpr int most_doublings = 16;
  naps_ = std::min(naps_ + 1, most_doublings);
  if (woken) return std::min(patience_.longest_sleep * (1 << (naps_ - 1)), patience_.longest_if_woken);
  return std::clamp<Clock::duration>(idle_for / 8, patience_.sleep, patience_.longest_sleep);
}

}  // namespace quadrille::engine
