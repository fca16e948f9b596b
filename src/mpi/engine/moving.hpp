#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <quadrille/exchange.hpp>
#include <span>
#include <vector>

#include "engine/arena.hpp"
#include "engine/task.hpp"
#include "layout/layout.hpp"
#include "run/plan.hpp"

namespace quadrille::engine {

class Context;

// What one rank has to complain of before anything moves, with a number that its text has.
struct Complaint {
  enum class Of : std::int64_t {
    nothing,
    negative,   // a count or displacement
    excess,     // counts or displacements that 64 bits can't add up, in bytes
    lengths,    // so many counts or displacements, not one for each rank
    algorithm,  // that was named: there is none to choose from
    type,       // none, or one that MPI does not tell of
    gaps,       // in elements
    ragged,     // vectors, the shortest so long
    nobody,     // is to get something
    uncovered,  // so many elements, for which counts don't add up
    overlap,    // of blocks to be sent, or of blocks to be received
    outside,    // of the arrays: a block
    nowhere,    // are the arrays
    // What may be another rank's fault.
    unexpected,  // another rank sends something else than this one expects
    memory,      // is not enough
    room,        // is not there, and there is too little memory to make it
    exhausted,   // the memory that it may take can't be had
  };
  Of what = Of::nothing;
  std::int64_t detail = 0;
};

// Data to be moved within the buffers that hold it: any counts and displacements, in elements, by rank. All arrays are
// moved alike.
struct Move {
  struct Array {
    std::byte* data = nullptr;
    std::int64_t element_bytes = 1;
  };

  std::vector<std::int64_t> send_counts;
  std::vector<std::int64_t> send_at;
  std::vector<std::int64_t> receive_counts;  // none: what the others send, one after another
  std::vector<std::int64_t> receive_at;
  std::vector<Array> arrays;
  std::int64_t memory = 0;     // bytes that this rank may take; 0: by itself
  std::int64_t elements = -1;  // that the arrays hold; -1: nobody knows
  std::int64_t taken = 0;      // bytes that the caller needed to make it ready, and has given back
  Complaint complaint;         // what the caller knows to be wrong already
  // Bytes it takes to make room for so many elements to be received, from the same budget; what makes it, or throws;
  // what uses it and gives the arrays their addresses; and what makes them as long as what was received. Where there
  // are none there is room.
  std::function<std::int64_t(std::int64_t elements)> growth;
  std::function<void(std::int64_t elements)> reserve;
  std::function<void(std::int64_t elements, std::span<Array> arrays)> grow;
  std::function<void(std::int64_t elements)> shrink;
};

// First ranks tell each other what they send, and whether anything is wrong: then all of them throw Error, and nothing
// has moved. `result` is filled in by every run.
Task::MakePlan plan_of(Context& context, const Move& move, const std::shared_ptr<ExchangeResult>& result);

// What a task of such a plan is said to run.
extern const Algorithm in_place_exchange;

}  // namespace quadrille::engine
