// The communicators that the drop-in has seen.

#include <algorithm>
#include <array>
#include <memory>
#include <quadrille/error.hpp>
#include <vector>

#include "api/local_call.hpp"
#include "engine/places.hpp"
#include "interpose/dropin.hpp"
#include "select/case.hpp"

namespace quadrille::interpose {

using engine::check;
using engine::Context;

namespace {

// Whether there are rules for so many ranks, on however many nodes, or any that name an algorithm of ours.
bool have(const engine::Rules* rules, int ranks, bool ours) {
  return rules && std::any_of(rules->begin(), rules->end(),
                              [&](const PlacedRule& one) { return one.ranks == ranks && (one.rule.variant || !ours); });
}

}  // namespace

// Ranks of another world may have other settings. If one of them is in the communicator, every rank sees one that is
// not of its own world, so that all pass calls through.
bool DropIn::within_world(MPI_Comm comm) {
  return !engine::processes_of(comm).empty();
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

// Makes the context, or finds that it can't; the same on every rank. Each takes a private communicator, and MPICH has
// 2048 in all.
void DropIn::adopt(MPI_Comm comm, Seen& seen) {
  constexpr int most_communicators = 128;
  std::array<int, 2> fine = {communicators_ < most_communicators ? 1 : 0, may_make_communicators() ? 1 : 0};
  check(PMPI_Allreduce(MPI_IN_PLACE, fine.data(), 2, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (fine[0] == 0 || fine[1] == 0) {
    seen.outcome = fine[1] == 0 ? Outcome::threads : Outcome::too_many_communicators;
    return;
  }
  auto context = std::make_unique<Context>(comm, settings_);
  seen.lessons = learning_.begin_on(comm, context->selector());
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

}  // namespace

// A context takes a while to make: where a call may just as well be passed through, there must be several first, and
// fewer where something is known to be gained.
int DropIn::calls_before(int ranks) const {
  return have(settings_.table, ranks, false) ? 0 : have(settings_.remembered, ranks, true) ? 3 : 16;
}

Seen& DropIn::seen(const detail::Call& call, MPI_Comm comm, bool at_once) {
  static Seen not_a_communicator{.outcome = Outcome::arguments};
  const std::int64_t forgotten = forgotten_.load(std::memory_order_acquire);
  if (last_seen.comm == comm && last_seen.forgotten == forgotten) return *last_seen.seen;
  void* known = nullptr;
  int found = 0;
  // MPI's own call will say what is wrong with the communicator.
  if (comm == MPI_COMM_NULL || PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&known), &found) != MPI_SUCCESS) {
    return not_a_communicator;
  }
  Seen& seen = found ? *static_cast<Seen*>(known) : first_seen(comm);
  if (seen.context) {
    last_seen = {comm, &seen, forgotten};
    return seen;
  }
  if (seen.outcome != Outcome::few_calls && seen.outcome != Outcome::one_rank) return seen;
  if (at_once || (seen.ranks > 1 && (seen.calls += weight(call, seen.rank, seen.ranks)) > calls_before(seen.ranks))) {
    adopt(comm, seen);
  }
  return seen;
}

}  // namespace quadrille::interpose
