#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "verify/memory.hpp"
#include "verify/provenance.hpp"
#include "verify/subject.hpp"
#include "verify/unrolled.hpp"

namespace quadrille::verify {

// A matched message: instances of the sender's and the receiver's schedule.
struct Matched {
  Rank from = 0;
  Rank to = 0;
  std::int32_t send = 0;
  std::int32_t receive = 0;
  std::int64_t units = 0;
  std::int64_t step = 0;  // from 1; in a step each rank sends and receives at most one message
};

// A collective of the MPI's own: the instances of all its ranks.
struct Together {
  std::vector<std::pair<Rank, std::int32_t>> instances;
};

// The history of one instance. A step is a transfer of data to another rank: a message, a put, an access to a peer's
// slot. Counters and local operations take no step.
struct Event {
  std::int64_t posted = -1;  // position in the order of all events; -1: never
  std::int64_t completed = -1;
  std::int64_t ready_step = 0;  // the step at whose end it could be posted
  std::int64_t done_step = 0;   // and was complete; a lower bound while it runs
};

// What an instance wrote: the pieces, relative to `begin`, into a block of its own rank or of another one.
struct Written {
  Rank rank = 0;
  std::int32_t instance = 0;
  Rank owner = 0;
  Buffer buffer = Buffer::input;
  std::int32_t block = 0;
  std::int64_t begin = 0;
  std::vector<Held> data;
};

// A run of a subject in which every send waits for its receive and each rank has one message in flight in each
// direction. This is the worst case: a larger window and buffered sends only weaken the conditions for posting, so what
// completes here always completes.
struct Execution {
  std::string fault;  // the first error; empty if the run completed
  std::vector<Unrolled> ranks;
  std::vector<Matched> messages;
  std::vector<Together> offloads;
  std::vector<std::vector<Event>> events;  // by rank and instance
  std::vector<Memory> memory;              // by rank, at the end
  // By rank and instance, if requested: the moved data; for a reduction, the operand on another rank or else the right
  // one.
  std::vector<std::vector<std::vector<Held>>> carried;
  std::vector<Written> written;  // likewise, in the order of the run
  std::int64_t steps = 0;
};

// Whether notices are all that is sent: they are its messages.
bool only_notifies(const Execution& execution);

// All messages, and in the same form what was put, got and deposited, or, if no data is, the notices: there `receive`
// is -1.
std::vector<Matched> transfers(const Execution& execution);

// The contents of a caller's block at the start.
Contents initial_contents(const Subject& subject, Expressions& expressions, Rank rank, Buffer buffer,
                          std::int32_t block);

// Runs all ranks symbolically, on provenance instead of data. The subject must outlive the result.
enum class Keep : std::uint8_t { events, data_too };
Execution execute(const Subject& subject, Expressions& expressions, Keep keep = Keep::events);
Execution execute(Subject&& subject, Expressions& expressions, Keep keep = Keep::events) = delete;

}  // namespace quadrille::verify
