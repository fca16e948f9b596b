#pragma once

#include <chrono>

namespace quadrille::engine {

// How a rank waits: it spins while every rank has a core of its own, then lets others run, then sleeps.
struct Patience {
  std::chrono::nanoseconds spin;            // from the last event
  std::chrono::nanoseconds yield;           // likewise; after that it sleeps
  std::chrono::nanoseconds yield_if_woken;  // the same where others wake it
  std::chrono::nanoseconds sleep;           // at a time, at first
  std::chrono::nanoseconds longest_sleep;
  std::chrono::nanoseconds longest_if_woken;

  static Patience of(bool more_ranks_than_cores);
  // For what MPI does by itself, where nobody sees that it gets on: shorter sleeps, since each may be one of many.
  static Patience with_mpi();
};

// One wait. Every wait of the library is a loop around this.
class Waiter {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Waiter(const Patience& patience) : patience_(patience) {}

  // After a look around that found nothing to do: how long to sleep now, at most; 0: not at all. May have let others
  // run. `woken`: somebody ends the sleep when there is something to do.
  std::chrono::nanoseconds rest(bool woken);
  // The same, and sleeps.
  void idle();
  // After one that did.
  void busy() { looks_ = naps_ = 0; }
  // Whether the last sleep is the first since then.
  bool first_sleep() const { return naps_ == 1; }

 private:
  const Patience& patience_;
  int looks_ = 0;  // idle ones in a row, as far as they count
  int naps_ = 0;   // likewise
  Clock::time_point since_{};
};

}  // namespace quadrille::engine
