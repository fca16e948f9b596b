#pragma once

#include <cstdint>
#include <string>

#include "verify/execution.hpp"
#include "verify/subject.hpp"

namespace quadrille::verify {

struct Verdict {
  std::string fault;  // empty: proved
  std::int64_t steps = 0;
  std::int64_t messages = 0;
  std::int64_t units = 0;  // sent by all ranks

  bool proved() const { return fault.empty(); }
};

// Proves for every timing, every window and every behaviour of sends that the schedules leave behind what they must:
//   - each is well formed, takes no more scratch than declared and stays inside its blocks;
//   - each send meets one receive of the same length, in an order that does not depend on luck;
//   - no deadlock, even if every send waits for its receive and one message a direction is in flight;
//   - no two operations touch the same data, one of them writing, unless one is always complete before the other
//   starts;
//   - counters have one writer and only grow;
//   - in a barrier, nobody ends before everybody has begun;
//   - every output is what the collective's meaning says; a reduction is the same expression on every rank.
// Without races and with matching fixed, the result of one order of events is the result of all.
Verdict prove(const Subject& subject);

}  // namespace quadrille::verify
