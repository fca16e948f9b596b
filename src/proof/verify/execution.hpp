#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verify/memory.hpp"
#include "verify/provenance.hpp"
#include "verify/subject.hpp"
#include "verify/unrolled.hpp"

namespace quadrille::verify {

// One message as it was matched: instances of the sender's and the receiver's schedule.
struct Matched {
  Rank from = 0;
  Rank to = 0;
  std::int32_t send = 0;
  std::int32_t receive = 0;
  std::int64_t units = 0;
  std::int64_t step = 0;  // 1 ..., where each rank sends one message and receives one at a time
};

// What became of one instance. A step is what it takes to bring data to another rank: a message, a put, an access to a
// peer's slot. Counters and local work take none.
struct Event {
  std::int64_t posted = -1;  // when, in the order of all events; -1: never
  std::int64_t completed = -1;
  std::int64_t ready_step = 0;  // at the end of which step it could be posted
  std::int64_t done_step = 0;   // and was complete; while it runs, as far as known
};

// What happened in a run of a subject in which every send waits for its receive and each rank has one message in
// flight in each direction. This is the hardest case: conditions to post only get weaker with a larger window and
// with sends that don't wait, so what completes here completes always.
struct Execution {
  std::string fault;  // the first thing that went wrong; empty if the run completed
  std::vector<Unrolled> ranks;
  std::vector<Matched> messages;
  std::vector<std::vector<Event>> events;  // by rank and instance
  std::vector<Memory> memory;              // by rank, at the end
  // By rank and instance, if asked for: the data it moved; of a reduction, the operand that lies with another rank or
  // else the right one.
  std::vector<std::vector<std::vector<Held>>> carried;
  std::int64_t steps = 0;
};

// What a block of the caller's holds at the start.
Contents initial_contents(const Subject& subject, Expressions& expressions, Rank rank, Buffer buffer,
                          std::int32_t block);

// Runs all ranks on provenance in place of data. The subject must outlive the result.
enum class Keep : std::uint8_t { events, data_too };
Execution execute(const Subject& subject, Expressions& expressions, Keep keep = Keep::events);
Execution execute(Subject&& subject, Expressions& expressions, Keep keep = Keep::events) = delete;

}  // namespace quadrille::verify
