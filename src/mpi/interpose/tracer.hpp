#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <quadrille/detail/call.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "select/case.hpp"
#include "trace/trace.hpp"

namespace quadrille::interpose {

// A collective call beyond its arguments.
struct Manner {
  trace::Form form = trace::Form::blocking;
  bool neighbours = false;
};

// Records what the program asks MPI for, and how long that takes. Calls are recorded after MPI has accepted them, so
// that handles and ranks are known to be valid. What is known already takes a lookup and no memory.
class Tracer {
 public:
  using Clock = std::chrono::steady_clock;

  // After MPI_Init. `threads`: several may be in calls at once. `waits`: before a blocking collective its ranks meet.
  void start(bool threads, bool waits);

  void spent(trace::Activity activity, Clock::duration time);
  // To a rank of the communicator or, of an intercommunicator, of its other group.
  void sent(int peer, std::int64_t count, MPI_Datatype type, MPI_Comm comm);
  // How long this rank waits for the others before a collective.
  Clock::duration meet(const Manner& how, MPI_Comm comm);
  void called(const detail::Call& call, const Manner& how, MPI_Comm comm, Clock::duration time, Clock::duration waited);

  // What is recorded each time that the persistent request is started.
  void prepared_send(int peer, std::int64_t count, MPI_Datatype type, MPI_Comm comm, MPI_Request request);
  void prepared_call(const detail::Call& call, bool neighbours, MPI_Comm comm, MPI_Request request);
  void started(std::span<const MPI_Request> requests);
  void freed(MPI_Request request);

  // Of a time that was measured, what is not the measuring.
  Clock::duration without_clock(Clock::duration time) const {
    return time > clock_ ? time - clock_ : Clock::duration();
  }

  // Collective over MPI_COMM_WORLD, once: rank 0 writes the trace of all ranks.
  void write(const std::string& path);

 private:
  struct KindHash {
    std::size_t operator()(const trace::Kind& kind) const;
  };
  struct Entry {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    Clock::duration time = {};
    Clock::duration waited = {};
    std::unordered_map<Rank, trace::Traffic> blocks = {};  // by destination
  };
  // All communicators of the same ranks.
  struct Group {
    std::unordered_map<trace::Kind, Entry, KindHash> entries = {};
    // Different kinds by collective and form: beyond some, sizes are rounded.
    std::array<int, static_cast<std::size_t>(collectives)* 6> kinds = {};

    Entry& entry(const trace::Kind& kind);
  };
  struct Known {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;
    int ranks = 0;
    bool inter = false;
    bool meets = false;            // all its ranks trace alike
    std::vector<Rank> world = {};  // ranks there of those that messages go to; none: they are the same
    Group* group = nullptr;
    std::optional<std::vector<int>> neighbours = {};  // that this rank sends to; nothing: nobody has asked yet

    Rank in_world(int peer) const { return world.empty() ? peer : world[static_cast<std::size_t>(peer)]; }
  };
  struct Block {
    Rank peer = 0;
    std::int64_t bytes = 0;
  };
  // What a persistent request stands for: a message, or a collective.
  struct Prepared {
    Block message = {};
    Entry* entry = nullptr;
    std::int64_t bytes = 0;
    std::vector<Block> blocks = {};
  };
  struct Described {
    trace::Kind kind;
    std::int64_t bytes = 0;
  };

  [[nodiscard]] std::unique_lock<std::mutex> lock() {
    return threads_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }
  static int forget(MPI_Comm comm, int key, void* known, void* tracer);
  Known& of(MPI_Comm comm);
  Known& first_seen(MPI_Comm comm);
  Group& group_of(trace::Communicator communicator);
  static Described describe(const detail::Call& call, const Manner& how, const Known& known);
  template <class Visit>
  static void for_each_block(const detail::Call& call, bool neighbours, Known& known, const Visit& visit);
  void count_message(const Block& message);
  static void count_block(Entry& entry, const Block& block);
  void forget_all();
  trace::Trace recorded(int rank) const;

  bool threads_ = true;
  bool waits_ = false;
  std::mutex mutex_;
  int key_ = MPI_KEYVAL_INVALID;
  Clock::time_point started_;
  Clock::duration clock_ = {};  // that a look at the clock takes
  std::array<Clock::duration, trace::activities> spent_ = {};
  std::unordered_map<Rank, trace::Traffic> messages_;  // by destination
  std::unordered_map<MPI_Comm, std::unique_ptr<Known>> known_;
  std::map<trace::Communicator, std::unique_ptr<Group>> groups_;
  std::unordered_map<MPI_Request, Prepared> prepared_;
  std::atomic<std::int64_t> forgotten_ = 0;  // communicators that are freed: a handle may be used again
};

// Null unless a trace was asked for, from MPI_Init to MPI_Finalize: all that a call costs that is not traced is a look
// at this.
inline constinit Tracer* tracer = nullptr;

// Which calls of a thread that test for messages are timed, and for how many each stands: programs test by the million,
// and to look at the clock would take longer than many a test.
class TestsOfThread {
 public:
  // For how many the next one stands; 0: it is not timed.
  int next() {
    if (exact_ > 0) {
      --exact_;
      return 1;
    }
    if (--until_timed_ > 0) return 0;
    // At random, since a program tests for the same in turn.
    random_ = random_ * 1664525U + 1013904223U;
    until_timed_ = 1 + static_cast<int>(random_ >> 16) % (2 * apart - 1);
    return apart;
  }

 private:
  static constexpr int apart = 16;  // in the mean
  int exact_ = 1024;                // the first ones are all timed
  int until_timed_ = apart;
  std::uint32_t random_ = 1;
};

inline constinit thread_local TestsOfThread tests_of_thread;

// The functions that end in _in_trace are called where there is a tracer. They take calls by value, so that where there
// is none, which is nearly always, a call's parameters need not be in memory.
template <class Call>
[[gnu::noinline]] int timed_in_trace(trace::Activity activity, Call call) {
  const int times = activity == trace::Activity::test ? tests_of_thread.next() : 1;
  if (times == 0) return call();
  const auto start = Tracer::Clock::now();
  const int code = call();
  const Tracer::Clock::duration time = Tracer::Clock::now() - start;
  tracer->spent(activity, times == 1 ? time : times * tracer->without_clock(time));
  return code;
}

template <class Call>
[[gnu::noinline]] int send_in_trace(int peer, std::int64_t count, MPI_Datatype type, MPI_Comm comm, Call call,
                                    trace::Activity activity) {
  const int code = timed_in_trace(activity, call);
  if (tracer && code == MPI_SUCCESS) tracer->sent(peer, count, type, comm);
  return code;
}

// Makes a call that returns a code of MPI, and counts its time.
template <class Call>
[[gnu::always_inline]] inline int timed(trace::Activity activity, const Call& call) {
  if (!tracer) [[likely]]
    return call();
  return timed_in_trace(activity, call);
}

// A call that sends a message, blocking or not. `activity` is what its time counts as.
template <class Call>
[[gnu::always_inline]] inline int traced_send(int peer, std::int64_t count, MPI_Datatype type, MPI_Comm comm,
                                              const Call& call, trace::Activity activity = trace::Activity::send) {
  if (!tracer) [[likely]]
    return call();
  return send_in_trace(peer, count, type, comm, call, activity);
}

// One that prepares to send a message.
template <class Call>
int traced_send_init(int peer, std::int64_t count, MPI_Datatype type, MPI_Comm comm, const MPI_Request* request,
                     const Call& call) {
  const int code = call();
  if (tracer && code == MPI_SUCCESS) tracer->prepared_send(peer, count, type, comm, *request);
  return code;
}

// A collective. `describe` makes the detail::Call.
template <class Describe, class Call>
int traced_call(const Manner& how, MPI_Comm comm, const Describe& describe, const Call& call) {
  if (!tracer) [[likely]]
    return call();
  const Tracer::Clock::duration waited = tracer->meet(how, comm);
  const auto start = Tracer::Clock::now();
  const int code = call();
  const Tracer::Clock::duration time = Tracer::Clock::now() - start;
  if (code == MPI_SUCCESS) tracer->called(describe(), how, comm, time, waited);
  return code;
}

// One that prepares a persistent collective.
template <class Describe, class Call>
int traced_call_init(bool neighbours, MPI_Comm comm, const MPI_Request* request, const Describe& describe,
                     const Call& call) {
  const int code = call();
  if (tracer && code == MPI_SUCCESS) tracer->prepared_call(describe(), neighbours, comm, *request);
  return code;
}

}  // namespace quadrille::interpose
