// The communicators that the drop-in has seen.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <quadrille/error.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/local_call.hpp"
#include "engine/places.hpp"
#include "engine/private_communicator.hpp"
#include "interpose/dropin.hpp"
#include "interpose/errors.hpp"
#include "select/case.hpp"

namespace quadrille::interpose {

using engine::check;
using engine::Context;

namespace {

// Whether there are rules for so many ranks, on however many nodes.
bool have_rules(const engine::Rules* rules, int ranks) {
  return rules && std::any_of(rules->begin(), rules->end(), [&](const PlacedRule& one) { return one.ranks == ranks; });
}

}  // namespace

// Ranks of another world may have other settings. If one of them is in the communicator, every rank sees one that is
// not of its own world, so that all pass calls through.
bool DropIn::within_world(MPI_Comm comm) {
  return !engine::processes_of(comm).empty();
}

bool DropIn::reorders(MPI_Comm comm) const {
  if (!reorders_ || comm == MPI_COMM_NULL) return false;
  int inter = 0;
  int ranks = 0;
  return PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0 &&
         PMPI_Comm_size(comm, &ranks) == MPI_SUCCESS && ranks > 1 && within_world(comm);
}

// Open MPI hangs where several threads make communicators at once, each on its own, some by a split, some by a group.
bool DropIn::may_make_communicators() {
#ifdef OPEN_MPI
  int level = MPI_THREAD_SINGLE;
  int main_thread = 1;
  check(PMPI_Query_thread(&level), "MPI_Query_thread");
  check(PMPI_Is_thread_main(&main_thread), "MPI_Is_thread_main");
  return level < MPI_THREAD_MULTIPLE || main_thread != 0;
#else
  return true;
#endif
}

Seen& DropIn::first_seen(MPI_Comm comm) const {
  auto seen = std::make_unique<Seen>();
  int inter = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter) {
    seen->outcome = Outcome::intercommunicator;
  } else if (!within_world(comm)) {
    seen->outcome = Outcome::other_world;
  } else {
    check(PMPI_Comm_rank(comm, &seen->rank), "MPI_Comm_rank");
    check(PMPI_Comm_size(comm, &seen->ranks), "MPI_Comm_size");
    seen->outcome = seen->ranks == 1 ? Outcome::one_rank : Outcome::few_calls;
  }
  check(PMPI_Comm_set_attr(comm, key_, seen.get()), "MPI_Comm_set_attr");
  return *seen.release();
}

// A rank that can't keep a progress thread must say so before the others count on its part in making a communicator.
std::string DropIn::trouble_with_progress() const {
  if (!settings_.progress) return {};
  try {
    engine::Process::get().start_progress();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

// Makes the context, or finds that it can't; the same on every rank. Each takes a private communicator, and MPICH has
// 2048 in all.
void DropIn::adopt(MPI_Comm comm, Seen& seen) {
  constexpr int most_communicators = 128;
  const std::string trouble = trouble_with_progress();
  std::array<int, 3> fine = {communicators_ < most_communicators ? 1 : 0, may_make_communicators() ? 1 : 0,
                             trouble.empty() ? 1 : 0};
  check(PMPI_Allreduce(MPI_IN_PLACE, fine.data(), 3, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (fine[0] == 0 || fine[1] == 0) {
    seen.outcome = fine[1] == 0 ? Outcome::threads : Outcome::too_many_communicators;
    return;
  }
  const auto give_up = [&](std::string_view why) {
    seen.outcome = Outcome::no_communicator;
    static std::atomic<bool> said = false;
    if (seen.rank == 0 && !said.exchange(true)) say(fmt::format("{}; calls are passed through to MPI", why));
  };
  if (fine[2] == 0) return give_up(trouble.empty() ? "another rank can't keep a progress thread" : trouble);
  const auto start = Trial::Clock::now();
  std::unique_ptr<Context> context;
  try {
    context = std::make_unique<Context>(comm, settings_);
  } catch (const engine::NotMade& error) {
    return give_up(error.what());
  }
  context_seconds_ = std::chrono::duration<double>(Trial::Clock::now() - start).count();
  seen.lessons = learning_.begin_on(comm, context->selector(), seen.waiting.credit);
  seen.context = context.release();
  seen.outcome = Outcome::replaced;
  ++communicators_;
}

int DropIn::forget(MPI_Comm, int, void* seen, void*) {
  const std::unique_ptr<Seen> known(static_cast<Seen*>(seen));
  if (known->context) --get().communicators_;
  if (known->lessons) get().learning_.end_on(*known->lessons, known->context->rank());
  get().forgotten_.fetch_add(1, std::memory_order_release);
  delete known->context;
  return MPI_SUCCESS;
}

namespace {

// As how many calls one counts that takes longer: by what all ranks know of it.
int weight(const detail::Call& call, int rank, int ranks) {
  if (!sizes_are_known(call.collective)) return 1;
  try {
    const Case asked =
        case_of(api::local_call(call, rank, ranks), {.ranks = ranks, .nodes = 1, .ranks_per_node = ranks});
    return asked.bytes() >= 1 << 20 ? 17 : asked.bytes() >= 1 << 16 ? 2 : 1;
  } catch (const Error&) {
    return 1;  // what is wrong is for MPI to report
  }
}

// The part of a call's time that is saved by the rules for so many ranks, their mean: no one knows which of them will
// be used on a communicator.
double usual_gain(const engine::Rules* rules, int ranks) {
  double sum = 0;
  int count = 0;
  for (const PlacedRule& one : rules ? std::span(*rules) : std::span<const PlacedRule>()) {
    if (one.ranks != ranks || one.native_seconds <= 0) continue;
    ++count;
    if (one.rule.variant) sum += std::max(0.0, 1 - one.seconds / one.native_seconds);
  }
  return count > 0 ? sum / count : 0;
}

// What the first context of all takes, which brings ranks together for the first time.
double first_context_seconds(int ranks) {
  return 250e-6 * ranks;
}

}  // namespace

// A context takes a while to make, which must be a small part of what the calls have taken, or less than would have
// been saved in them. At call numbers that follow from their count alone, the ranks agree on that.
bool DropIn::context_pays(const detail::Call& call, MPI_Comm comm, Seen& seen) const {
  constexpr std::int64_t first_remembered = 4;
  constexpr double usual_share = 0.02;
  constexpr double seldom = 16;  // times as many calls, at most, until the ranks ask each other again
  Waiting& waiting = seen.waiting;
  waiting.stands_for = 0;
  if (waiting.passes()) return false;
  if (waiting.calls == 0) {
    if (have_rules(settings_.table, seen.ranks)) return true;
    waiting.gain = usual_gain(settings_.remembered, seen.ranks);
    waiting.asks_after = waiting.gain > 0 ? first_remembered : Waiting::first + 1;
  }
  waiting.count(waiting.calls < Waiting::first ? weight(call, seen.rank, seen.ranks) : 1);
  if (waiting.asks_after > 0) {
    waiting.look_ahead();
    return false;
  }
  std::array<double, 3> most = {waiting.spent, context_seconds_, learning_.round_seconds()};
  check(PMPI_Allreduce(MPI_IN_PLACE, most.data(), 3, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  const double context = most[1] > 0 ? most[1] : first_context_seconds(seen.ranks);
  const double share = settings_.learn > 0 ? settings_.learn : usual_share;
  const double enough = context / std::max(waiting.gain, share);
  waiting.credit = {waiting.calls, most[0], context, share, most[2]};
  if (most[0] >= enough) return true;
  const double factor = most[0] > 0 ? std::clamp(enough / most[0], 2.0, seldom) : 2;
  waiting.asks_after = static_cast<std::int64_t>((factor - 1) * static_cast<double>(waiting.calls));
  waiting.look_ahead();
  return false;
}

Seen& DropIn::seen(const detail::Call& call, MPI_Comm comm, bool at_once) {
  static Seen not_a_communicator{.outcome = Outcome::arguments};
  const std::int64_t forgotten = forgotten_.load(std::memory_order_acquire);
  LastSeen& last = last_seen.of(comm);
  if (last.comm != comm || last.forgotten != forgotten) {
    void* known = nullptr;
    int found = 0;
    // MPI's own call will say what is wrong with the communicator.
    if (comm == MPI_COMM_NULL || PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&known), &found) != MPI_SUCCESS) {
      return not_a_communicator;
    }
    last = {comm, found ? static_cast<Seen*>(known) : &first_seen(comm), forgotten};
  }
  Seen& seen = *last.seen;
  const bool may_adopt = seen.outcome == Outcome::few_calls || (at_once && seen.outcome == Outcome::one_rank);
  if (may_adopt && (at_once || context_pays(call, comm, seen))) adopt(comm, seen);
  return seen;
}

}  // namespace quadrille::interpose
