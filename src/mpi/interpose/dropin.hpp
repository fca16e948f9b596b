#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "algorithms/catalogue.hpp"
#include "algorithms/collective.hpp"
#include "engine/context.hpp"
#include "interpose/learning.hpp"
#include "interpose/outcome.hpp"
#include "interpose/recent.hpp"
#include "interpose/report.hpp"
#include "interpose/tracer.hpp"
#include "learn/lessons.hpp"
#include "settings/settings.hpp"

namespace quadrille::interpose {

// For a context, which is made when it pays.
struct Waiting {
  // Each of the first 16 calls is timed, one of 7 up to call 256, then one of 61: no powers of two, as programs have
  // them.
  static constexpr std::int64_t first = 16;
  static constexpr std::int64_t some = 256;
  static constexpr std::int64_t often = 7;
  static constexpr std::int64_t seldom = 61;

  std::int64_t plain = 0;  // calls to come for which there is nothing to do: they are counted already
  std::int64_t calls = 0;
  std::int64_t asks_after = 0;  // so many more, the ranks ask each other whether it pays
  int stands_for = 0;           // as how many calls the last one counts in what is spent; 0: it is not timed
  double spent = 0;             // seconds in them, on this rank
  double gain = 0;              // the part of a call's time that earlier jobs have found to be saved, in the mean
  learn::Credit credit = {};    // as they agreed on

  // Whether there is nothing to do for the next call.
  bool passes() {
    if (plain == 0) return false;
    --plain;
    return true;
  }
  // Seconds that a call counts as at most that stands for many: in one of them a rank may be late for another reason.
  double most() const {
    constexpr double times = 10;
    return stands_for > often ? times * spent / static_cast<double>(calls) : std::numeric_limits<double>::infinity();
  }
  // The next call, which weighs as so many.
  void count(int weight) {
    stands_for = calls % each() == 0 ? static_cast<int>(each()) : 0;
    ++calls;
    asks_after -= weight;
  }
  // Counts those in advance that are neither timed nor have the ranks ask each other, the same on every rank.
  void look_ahead() {
    plain = std::clamp<std::int64_t>(asks_after - 1, 0, (each() - calls % each()) % each());
    calls += plain;
    asks_after -= plain;
  }

 private:
  // From one call that is timed to the next.
  std::int64_t each() const { return calls < first ? 1 : calls < some ? often : seldom; }
};

// A communicator as the drop-in knows it.
struct Seen {
  Outcome outcome = Outcome::replaced;  // where there is no context, why
  Waiting waiting = {};
  engine::Context* context = nullptr;  // null: its collectives are passed through
  int rank = 0;
  int ranks = 0;
  std::unique_ptr<learn::Lessons> lessons = nullptr;  // null: nothing is learned
  RecentCalls recent = {};
};

// A communicator that a thread called lately: MPI takes longer to find an attribute than all else that a call takes
// which is passed through.
struct LastSeen {
  MPI_Comm comm = {};  // no handle of MPI's
  Seen* seen = nullptr;
  std::int64_t forgotten = -1;
};

// Programs call in turn on a few: the rows and columns of a grid. Of any two in one place the later one stays.
class LastSeenOfThread {
 public:
  LastSeen& of(MPI_Comm comm) {
    const std::hash<MPI_Comm> number;
    return places_[place_of(number(comm), bits)];
  }

 private:
  static constexpr unsigned bits = 4;
  std::array<LastSeen, std::size_t{1} << bits> places_ = {};
};

// Why MPI's own function runs most calls that a lesson is about.
inline Outcome why_native(const learn::CaseLesson& about) {
  return about.measured() ? Outcome::found_not_faster : Outcome::not_faster;
}

// Which calls of one collective are replaced.
struct Policy {
  Outcome outcome = Outcome::inactive;                       // replaced: those below; else none, and why
  Request::Native native = Request::Native::without_memory;  // when MPI's own function runs them all the same
  // Large calls with MPI_IN_PLACE are replaced in any case: MPI's own take as much memory as they were to spare.
  bool in_place = false;

  // Whether a call may be passed through as long as there is no context.
  bool may_pass() const {
    return outcome == Outcome::replaced && native == Request::Native::unless_faster && !in_place;
  }
  bool passes_all() const { return outcome != Outcome::replaced && !in_place; }
};

// What became of a call.
struct CallOutcome {
  Outcome outcome = Outcome::replaced;
  const Algorithm* algorithm = nullptr;  // that ran it
  int code = MPI_SUCCESS;                // what it is to return, unless it is passed through
  Trial trial = {};                      // ended by whoever passes it through, else at once

  bool passes() const { return outcome != Outcome::replaced; }
};

// The drop-in's state: which collectives it replaces, and the communicators it has seen. There is one, which lives from
// MPI_Init to MPI_Finalize; outside it every call is passed through.
class DropIn {
 public:
  static DropIn& get() {
    if (DropIn* const made = only.load(std::memory_order_acquire)) [[likely]]
      return *made;
    return make();
  }

  // Before anything of MPI is called: ends the process if the program runs under another MPI than this was made for.
  static void refuse_wrong_mpi();

  // Before MPI_Init, which may have to wait already: by what this rank knows alone.
  void before_init();
  // After MPI_Init. Collective over MPI_COMM_WORLD: rank 0's environment counts for all.
  void begin();
  // Before MPI_Finalize: writes the report and the trace, if they were asked for.
  void end();

  const Policy& policy(Collective collective) const { return policies_[static_cast<std::size_t>(collective)]; }
  // Whether a call is passed through, and there is nothing else to do: the quick way, for the sake of calls that take
  // less than a microsecond. Where ranks share a core each finds the caches as another left them, so this looks at few
  // places; inlined, it has no part of a description in memory. Such calls are not counted, and there are none where
  // calls are reported or traced.
  [[gnu::always_inline]] static bool passes_at_once(Collective collective, const detail::Call& call, MPI_Comm comm) {
    const DropIn* const made = only.load(std::memory_order_acquire);
    return made && made->quick_ && ((made->passes_all_ & bit(collective)) != 0 || made->passes_again(call, comm));
  }
  // Runs the call, or finds that it is to be passed through. In a call that all ranks of the communicator make.
  CallOutcome run(const detail::Call& call, MPI_Comm comm);

  // Whether a grid or graph of the program's on this communicator is to be reordered, where it allows that. The same on
  // every rank.
  bool reorders(MPI_Comm comm) const;
  const cost::Model& model() const { return settings_.model; }

  // Whether blocking messages are to be waited for by the engine, so that ranks that share a core get it.
  bool waits() const { return waits_; }

  // Null if nobody wants one.
  Report* report() { return reporting_ ? &report_ : nullptr; }

  void count(Collective collective, Outcome outcome) {
    std::atomic<std::int64_t>& calls = counts_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(outcome)];
    if (threads_) {
      calls.fetch_add(1, std::memory_order_relaxed);
    } else {  // after the stores of a message, a locked instruction takes 20 ns
      calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }
  // Calls of this rank so far that did not take the quick way.
  std::int64_t counted(Collective collective, Outcome outcome) const {
    return counts_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(outcome)];
  }

 private:
  // The drop-in is there when the program starts: its part of a thread's memory can be had without a call.
  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local LastSeenOfThread last_seen = {};

  static constexpr std::uint32_t bit(Collective collective) {
    static_assert(collectives <= 32);
    return std::uint32_t{1} << static_cast<unsigned>(collective);
  }
  // Whether the call is passed through as one before.
  [[gnu::always_inline]] bool passes_again(const detail::Call& call, MPI_Comm comm) const {
    const LastSeen& last = last_seen.of(comm);
    if (last.comm != comm || last.forgotten != forgotten_.load(std::memory_order_acquire)) return false;
    if (last.seen->outcome == Outcome::few_calls) {
      return (may_pass_ & bit(call.collective)) != 0 && last.seen->waiting.passes();
    }
    const RecentCalls::Known* const known = last.seen->recent.find_same(call);
    return known && (!known->lesson || known->lesson->lesson.ran_by_mpi());
  }
  static DropIn& make();
  static int forget(MPI_Comm, int, void* seen, void*);
  static bool ranks_starve_each_other();
  static bool all_reach_waits_of_mpi();
  static bool within_world(MPI_Comm comm);
  static bool may_make_communicators();
  void set_policies(bool spinning);
  using Policies = std::array<Policy, collectives>;
  void take(const Policies& policies);
  void mention_other_ranks() const;
  Outcome why_in_place(const detail::Call& call, MPI_Comm comm, bool& saves);
  bool saves_memory(const detail::Call& call, MPI_Comm comm, int ranks);
  std::int64_t largest(std::int64_t bytes, MPI_Comm comm);
  CallOutcome run_if_faster(const detail::Call& call, MPI_Comm comm, Seen& seen);
  static CallOutcome run_always(const detail::Call& call, Seen& seen, bool saves);
  // The communicator with its context, which is made once it pays, or at once.
  Seen& seen(const detail::Call& call, MPI_Comm comm, bool at_once);
  Seen& first_seen(MPI_Comm comm) const;
  bool context_pays(const detail::Call& call, MPI_Comm comm, Seen& seen) const;
  std::string trouble_with_progress() const;
  void adopt(MPI_Comm comm, Seen& seen);

  static constinit inline std::atomic<DropIn*> only = nullptr;

  // What every call looks at, side by side.
  alignas(64) std::atomic<std::int64_t> forgotten_ = 0;  // communicators that are freed: a handle may be used again
  std::uint32_t passes_all_ = 0;                         // by collective, as the policies say
  std::uint32_t may_pass_ = 0;                           // likewise
  bool quick_ = false;                                   // calls may pass the quick way
  bool reporting_ = false;
  bool active_ = false;
  bool threads_ = true;  // several may be in calls at once
  bool waits_ = false;
  Policies policies_ = {};
  Counts counts_{};
  Waits how_ = Waits::mpis;
  bool reorders_ = false;
  Report report_;
  Learning learning_;
  std::string report_path_;
  Tracer tracer_;
  std::string trace_path_;
  Settings settings_;
  int key_ = MPI_KEYVAL_INVALID;
  std::atomic<int> communicators_ = 0;       // that have a context
  std::atomic<double> context_seconds_ = 0;  // that the last one took to make; 0: there was none
};

}  // namespace quadrille::interpose
