#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/requests.hpp"
#include "engine/waiting.hpp"
#include "engine/watch.hpp"
#include "run/arena.hpp"
#include "topology/places.hpp"

namespace quadrille::engine {

// A communicator's collectives, as the process sees them.
class Resident {
 public:
  // MPI ends: nothing can be started afterwards.
  virtual void close() = 0;
  // Begins what is queued, as far as it can. Returns whether anything did.
  virtual bool pump() = 0;
  // For people: what each collective in flight waits for.
  virtual std::string in_flight() const = 0;
  // About collectives that have not advanced for too long, each mentioned once.
  virtual std::string overdue(std::chrono::steady_clock::time_point now) = 0;

 protected:
  ~Resident() = default;
};

// A function to be called when a collective has ended, and how often it still is to be. Guarded by the process's lock.
struct Callback {
  std::function<void()> function;
  int due = 0;
};

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
  Watch& watch() { return watch_; }
  // Where other processes are, by their rank in MPI_COMM_WORLD.
  Places& places() { return places_; }
  // Where this one is: what others have heard stays true. Throws Error as own_place does.
  const Place& place();
  bool crowded() const { return crowded_; }
  // Whether several threads may call MPI.
  bool threads() const { return threads_; }

  using Lock = std::unique_lock<std::recursive_mutex>;
  Lock lock() { return threads_ ? Lock(mutex_) : Lock(mutex_, std::defer_lock); }

  // Communicators, in the order they were made, which is the same on all their ranks.
  struct Habits {
    bool watched = false;      // it wants to know how long things take
    bool keeps_blocks = true;  // unused blocks of the arena may be kept
    int signal = 0;            // prints what is awaited; 0: none
  };
  void enter(Resident& resident, const Habits& habits);
  void leave(Resident& resident);

  // Waits until done() is true, and keeps everything going meanwhile. The lock must not be held. Lets no exception of a
  // callback through.
  template <class Done>
  void wait(Done&& done) {
    wait(std::forward<Done>(done), patience_, true);
  }
  // For something that MPI is to bring about, and no collective of ours.
  template <class Done>
  void wait_for_mpi(Done&& done) {
    wait(std::forward<Done>(done), patience_, false);
  }
  template <class Done>
  void wait_for_mpi(Done&& done, const Patience& patience) {
    wait(std::forward<Done>(done), patience, false);
  }

  // Lets everything advance that can; returns whether anything did. Where nothing does, says what was asked for, by a
  // signal or by settings. The lock must be held.
  bool look() {
    bool happened = watch_.look();
    if (!starved_.empty()) happened |= feed();
    happened |= requests_.poll();
    if (happened) return true;
    if (asked_to_report()) report();
    if (watched_) report_overdue();
    return false;
  }

  // The communicator has collectives queued until others have ended theirs, which they say in shared memory. Once; the
  // lock must be held.
  void starve(Resident& resident);

  // Has a function called soon: by whoever waits or tests next, or by the progress thread, without the lock, and never
  // inside another one. The lock must be held.
  void call_back(const std::shared_ptr<Callback>& callback);
  // Whether nothing of it is to be called any more, or the caller is itself such a function and can't wait for it. The
  // lock must be held.
  bool called_back(const Callback* callback) const {
    return !callback || callback->due == 0 || calling_back_ == std::this_thread::get_id();
  }
  // Throws what a callback has thrown, once. The lock must not be held.
  void rethrow_from_callback();
  void run_callbacks() {
    if (callbacks_wait_.load(std::memory_order_relaxed)) run_waiting_callbacks();
  }

  // Has a thread advance whatever is pending, until MPI ends. Throws Error unless threads may call MPI.
  void start_progress();
  // Something was started: the progress thread, if there is one, has work.
  void wake() {
    if (progress_.joinable()) work_.notify_one();
  }

  // Prints what every collective in flight waits for.
  void report() const;

 private:
  Process();
  template <class Done>
  void wait(Done&& done, const Patience& patience, bool for_ours) {
    constexpr unsigned looks_at_counters = 32;
    constexpr unsigned looks_in_a_row = 256;  // where each finds something
    unsigned looks = 0;
    for (Waiter waiter(patience);;) {
      bool advanced = false;
      {
        const Lock locked = lock();
        if (done()) break;
        // Counters are cheaper to look at than MPI, which need not be asked every time where nothing of ours is there.
        const bool counters_only = watch_.without_mpi() && requests_.open() == 0 && starved_.empty();
        advanced = counters_only && watch_.look();
        if (!counters_only || ++looks >= (advanced ? looks_in_a_row : looks_at_counters)) {
          looks = 0;
          advanced |= look();
        }
      }
      run_callbacks();
      if (advanced) {
        waiter.busy();
      } else if (rest(waiter, for_ours)) {
        looks = looks_at_counters;  // after a sleep all of it
      }
    }
  }
  static int at_finalize(MPI_Comm, int, void*, void*);
  static bool asked_to_report();
  void report_overdue();
  bool feed();
  bool rest(Waiter& waiter, bool for_ours);
  void run_waiting_callbacks();
  void stop_progress();
  void keep_going();

  Requests requests_;
  Arena arena_;
  Watch watch_;
  Places places_;
  std::optional<Place> place_;
  std::vector<Resident*> starved_;
  bool crowded_ = false;  // more ranks than cores on this node
  Patience patience_;
  bool threads_ = false;
  std::recursive_mutex mutex_;
  std::vector<Resident*> residents_;
  bool watched_ = false;  // by checked mode or a watchdog
  std::deque<std::shared_ptr<Callback>> callbacks_;
  std::atomic<bool> callbacks_wait_ = false;
  std::thread::id calling_back_;       // who calls them; nobody: none
  std::exception_ptr callback_error_;  // the first
  std::atomic<bool> callback_failed_ = false;
  std::thread progress_;
  std::condition_variable_any work_;
  bool stopping_ = false;
};

}  // namespace quadrille::engine
