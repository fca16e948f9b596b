#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "engine/arena.hpp"
#include "engine/requests.hpp"
#include "engine/waiting.hpp"

namespace quadrille::engine {

class Context;

// What there is once in a process: requests, memory, the way to wait, and the list of communicators. Whoever calls
// into the engine holds its lock, which is none unless the program asked for MPI_THREAD_MULTIPLE.
class Process {
 public:
  // MPI must be initialised.
  static Process& get();
  // Whether the process may still call MPI: after MPI_Finalize it must not.
  static bool alive();

  Requests& requests() { return requests_; }
  Arena& arena() { return arena_; }

  using Lock = std::unique_lock<std::recursive_mutex>;
  Lock lock() { return threads_ ? Lock(mutex_) : Lock(mutex_, std::defer_lock); }

  // Communicators, in the order they were made, which is the same on all their ranks.
  void enter(Context& context);
  void leave(Context& context);

  // Waits until done() is true, and keeps everything going meanwhile. The lock must not be held.
  template <class Done>
  void wait(Done&& done) {
    for (Waiter waiter(patience_);;) {
      {
        const Lock locked = lock();
        if (done()) return;
        if (look()) {
          waiter.busy();
          continue;
        }
      }
      waiter.idle();
    }
  }

  // Lets everything advance that can; returns whether anything did. Where nothing does, says what was asked for, by a
  // signal or by settings. The lock must be held.
  bool look() {
    if (requests_.poll()) return true;
    if (asked_to_tell()) tell();
    if (watched_) complain();
    return false;
  }

  // Prints what every collective in flight waits for.
  void tell() const;

 private:
  Process();
  static int at_finalize(MPI_Comm, int, void*, void*);
  static bool asked_to_tell();
  // About what has not advanced for too long.
  void complain();

  Requests requests_;
  Arena arena_;
  Patience patience_;
  bool threads_ = false;
  std::recursive_mutex mutex_;
  std::vector<Context*> contexts_;
  bool watched_ = false;  // by checked mode or a watchdog
};

}  // namespace quadrille::engine
