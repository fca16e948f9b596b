#pragma once

#include <chrono>
#include <quadrille/error.hpp>
#include <utility>

#include "api/calls.hpp"
#include "interpose/dropin.hpp"

namespace quadrille::interpose {

// Tells the user, and then the communicator's error handler. Returns what the call is to return.
int report_error(MPI_Comm comm, int code, const char* text);

// Whether MPI finds the same fault with the arguments before it communicates: it is MPI's then to complain.
bool is_for_mpi_to_judge(const Error& error);

// What became of a call.
struct Fate {
  Outcome outcome = Outcome::served;
  const Algorithm* algorithm = nullptr;  // that served it
};

// Serves a call, or hands it down, and says which. `describe` makes the detail::Call; `hand_down` makes the call to
// MPI.
template <class Describe, class HandDown>
int serve_or_hand_down(Collective collective, MPI_Comm comm, const Describe& describe, const HandDown& hand_down,
                       Fate& fate) {
  DropIn& drop_in = DropIn::get();
  fate.outcome = drop_in.asked(collective);
  // MPI has all ranks say so, or none.
  const bool in_place = drop_in.asked_in_place(collective) && describe().input.address == MPI_IN_PLACE;
  if (fate.outcome != Outcome::served && !in_place) return hand_down();
  try {
    const Seen seen = drop_in.seen(comm, in_place);
    fate.outcome = seen.outcome;
    if (!seen.context) return hand_down();
    const bool by_table = drop_in.by_table(collective) && !in_place;
    api::Prepared task;
    try {
      if (!by_table || seen.context->guide().knows(collective)) {
        task = api::prepare(*seen.context, describe(), {.by_table = by_table}, api::Handles::borrowed);
      }
    } catch (const Error& error) {
      if (!is_for_mpi_to_judge(error)) throw;
      fate.outcome = Outcome::arguments;
      return hand_down();
    }
    if (!task || seen.context->exceeds_memory(*task)) {
      fate.outcome = task ? Outcome::memory : Outcome::not_in_table;
      return hand_down();
    }
    fate.algorithm = task->shape().algorithm;
    try {
      seen.context->run(std::move(task));
    } catch (const Error& error) {
      // Then no rank has memory enough, or one has not, and nothing has moved.
      if (!in_place || error.code() != MPI_ERR_NO_MEM || seen.context->broken()) throw;
      fate = {.outcome = Outcome::memory};
      return hand_down();
    }
    return MPI_SUCCESS;
  } catch (const Error& error) {
    return report_error(comm, error.code(), error.what());
  } catch (const std::exception& error) {
    return report_error(comm, MPI_ERR_INTERN, error.what());
  }
}

// The same, counted.
template <class Describe, class HandDown>
int serve(Collective collective, MPI_Comm comm, const Describe& describe, const HandDown& hand_down) {
  DropIn& drop_in = DropIn::get();
  Fate fate;
  Report* const report = drop_in.report();
  if (!report) {
    const int code = serve_or_hand_down(collective, comm, describe, hand_down, fate);
    drop_in.count(collective, fate.outcome);
    return code;
  }
  const auto start = std::chrono::steady_clock::now();
  const int code = serve_or_hand_down(collective, comm, describe, hand_down, fate);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  drop_in.count(collective, fate.outcome);
  report->add(collective, code == MPI_SUCCESS ? bytes_of(describe(), comm) : 0, took.count(), fate.algorithm);
  return code;
}

// MPI_Init by `init`, then the drop-in.
template <class Init>
int begin(Init&& init) {
  DropIn::refuse_wrong_mpi();
  DropIn::get().before_init();
  const int code = init();
  if (code == MPI_SUCCESS) DropIn::get().begin();
  return code;
}

}  // namespace quadrille::interpose
