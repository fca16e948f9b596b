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

// Serves a call, or hands it down, and says which. `describe` makes the detail::Call; `hand_down` makes the call to
// MPI.
template <class Describe, class HandDown>
int serve_or_hand_down(Collective collective, MPI_Comm comm, const Describe& describe, const HandDown& hand_down,
                       Outcome& outcome) {
  DropIn& drop_in = DropIn::get();
  outcome = drop_in.active() ? Outcome::not_asked : Outcome::inactive;
  if (!drop_in.asked(collective)) return hand_down();
  try {
    const Seen seen = drop_in.seen(comm);
    outcome = seen.outcome;
    if (!seen.context) return hand_down();
    api::Prepared task;
    try {
      task = api::prepare(*seen.context, describe(), {}, api::Handles::borrowed);
    } catch (const Error& error) {
      if (!is_for_mpi_to_judge(error)) throw;
      outcome = Outcome::arguments;
      return hand_down();
    }
    if (seen.context->exceeds_memory(*task)) {
      outcome = Outcome::memory;
      return hand_down();
    }
    seen.context->run(std::move(task));
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
  Outcome outcome = Outcome::served;
  Report* const report = drop_in.report();
  if (!report) {
    const int code = serve_or_hand_down(collective, comm, describe, hand_down, outcome);
    drop_in.count(collective, outcome);
    return code;
  }
  const auto start = std::chrono::steady_clock::now();
  const int code = serve_or_hand_down(collective, comm, describe, hand_down, outcome);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  drop_in.count(collective, outcome);
  report->add(collective, code == MPI_SUCCESS ? bytes_of(describe(), comm) : 0, took.count(), outcome);
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
