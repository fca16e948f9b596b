#pragma once

#include <chrono>

#include "interpose/dropin.hpp"
#include "interpose/tracer.hpp"

namespace quadrille::interpose {

// Runs a call by Quadrille or passes it through to MPI, and counts it. `describe` makes the detail::Call;
// `pass_through` makes the call to MPI.
template <class Describe, class PassThrough>
int run_or_pass(Collective collective, MPI_Comm comm, const Describe& describe, const PassThrough& pass_through) {
  DropIn& drop_in = DropIn::get();
  Report* const report = drop_in.report();
  const auto start = report ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
  const detail::Call call = describe();
  CallOutcome done = drop_in.run(call, comm);
  const int code = done.passes() ? pass_through() : done.code;
  done.trial.end();
  drop_in.count(collective, done.outcome);
  if (report) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    report->add(call, comm, code, took.count(), done.algorithm);
  }
  return code;
}

template <class Describe, class PassThrough>
int intercept(Collective collective, MPI_Comm comm, const Describe& describe, const PassThrough& pass_through) {
  return traced_call({}, comm, describe, [&] { return run_or_pass(collective, comm, describe, pass_through); });
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
