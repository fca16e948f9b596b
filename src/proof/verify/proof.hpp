#pragma once

#include <cstdint>
#include <string>

#include "verify/execution.hpp"
#include "verify/subject.hpp"

namespace quadrille::verify {

struct ProofResult {
  std::string fault;  // empty: proved
  std::int64_t steps = 0;
  std::int64_t messages = 0;  // puts, gets and deposits among them
  std::int64_t units = 0;     // sent by all ranks

  bool proved() const { return fault.empty(); }
};

// Proves for every timing, every window and every behaviour of sends that the schedules are correct:
//   - each is well formed, uses no more scratch than declared and stays inside its blocks;
//   - slots and counters are shared inside nodes only; windows reach every rank;
//   - each send matches one receive of the same length, deterministically;
//   - there is no deadlock, even if every send waits for its receive and only one message per direction is in flight;
//   - there are no data races: of two conflicting accesses one is always complete before the other starts;
//   - counters have one writer and are monotonic; what is deposited is collected before the next deposit;
//   - in a barrier, no rank ends before every rank has begun;
//   - every output is as defined by the collective; a reduction is the same expression on every rank.
// Without races and with deterministic matching, all orders of events have the same result.
ProofResult prove(const Subject& subject);

}  // namespace quadrille::verify
