#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/data.hpp"

namespace quadrille {

// What an operation does, and its regions, in this order:
//   send, receive    any number of regions, packed in order; none: a signal
//   copy             source, target
//   reduce           left, right, target = left op right; the target is disjoint from both, or is the right operand
//   publish          sets a counter of this rank's own, for peers that share memory with it
//   wait             until a counter of `peer`, in shared memory, has reached a value
//   put              source, target in the output or staging of `peer`; done only when a later flush of that peer is
//   flush            all puts to `peer` that this operation depends on have arrived
//   get              source in the output of `peer`, target
//   notify           sets a notice at `peer`: a counter in its window
//   await            until a notice of this rank's own has reached a value
//   deposit          source, target in a box of `peer`: short data that tells itself that it is there, without a flush;
//                    one a box and run
//   collect          source in a box of this rank's own, target: when it has been deposited
//   offload          a collective of the MPI's own among the ranks of `Schedule::offload`: with a region its allreduce,
//                    in place and in the order of these ranks; with none its barrier. What it does is taken on trust.
//   join             nothing: a point that orders many operations before many after
enum class Kind : std::uint8_t {
  send,
  receive,
  copy,
  reduce,
  publish,
  wait,
  put,
  flush,
  get,
  notify,
  await,
  deposit,
  collect,
  offload,
  join
};
inline constexpr std::size_t kinds = 15;

std::string_view name(Kind kind);
std::string_view name(Buffer buffer);

inline bool is_message(Kind kind) {
  return kind == Kind::send || kind == Kind::receive;
}

// What an operation counts by: counters of shared memory, notices of a window, or a box of it, which counts its
// deposits.
enum class Board : std::uint8_t { counter, notice, box };
inline Board board(Kind kind) {
  if (kind == Kind::publish || kind == Kind::wait) return Board::counter;
  return kind == Kind::notify || kind == Kind::await ? Board::notice : Board::box;
}
// Whether an operation sets a counter, of whatever kind, or waits for one.
inline bool counts(Kind kind) {
  return kind == Kind::publish || kind == Kind::notify || kind == Kind::deposit;
}
inline bool awaits(Kind kind) {
  return kind == Kind::wait || kind == Kind::await || kind == Kind::collect;
}

// Whether an operand is written; all others are read.
bool writes(Kind kind, int region);

// Between two operations of one loop a dependency is on the iteration `distance` before. Any other dependency on an
// operation of a loop is on all its iterations.
struct Dependency {
  std::int32_t operation = 0;
  std::int32_t distance = 0;
  bool posted = false;  // must only be posted before, not complete; keeps messages of one channel in order

  friend bool operator==(const Dependency&, const Dependency&) = default;
};

struct Operation {
  Kind kind = Kind::join;
  std::int32_t loop = -1;  // index of the loop it belongs to
  std::int32_t channel = 0;
  Rank peer = self;  // of a message or a one-sided operation: the other rank; of a wait: the counter's owner
  std::int32_t first_region = 0;
  std::int32_t regions = 0;
  std::int32_t first_dependency = 0;
  std::int32_t dependencies = 0;
  std::int32_t counter = 0;       // or notice, or box
  std::int64_t value = 0;         // of a counter, relative to the start of the run
  std::int64_t value_stride = 0;  // in a loop: increment of the value per iteration

  friend bool operator==(const Operation&, const Operation&) = default;
};

// A sequence of operations that is repeated. Stored once and unrolled at run time, so that schedules do not grow with
// the data. Iteration k starts only when iteration k - window is complete, and an operation is posted in iteration k
// only after it was posted in iteration k - 1.
struct Loop {
  std::int32_t first = 0;  // operations [first, last)
  std::int32_t last = 0;
  std::int32_t window = 1;
  std::int64_t iterations = 0;  // of a chunk loop: at most so many; 0: no limit
  std::int64_t chunk = 0;       // if not 0: one iteration per chunk of so many units of `over`, once bound
  Region over{};

  // Iterations if `over` holds so many units, in chunks of `of` units or of the loop's own size.
  std::int64_t iterations_over(std::int64_t units, std::int64_t of) const {
    if (chunk == 0) return iterations;
    const std::int64_t chunks = units / of + (units % of != 0 ? 1 : 0);
    return iterations == 0 ? chunks : std::min(chunks, iterations);
  }
  std::int64_t iterations_over(std::int64_t units) const { return iterations_over(units, chunk); }

  friend bool operator==(const Loop&, const Loop&) = default;
};

// The maximum window of a loop: a run keeps one bit per iteration in flight.
inline constexpr std::int32_t max_loop_window = 64;

// A staging block outlives a run: what one run has put there the target's next run with it copies out. So that a source
// may be ahead of its target, runs that use a block take its places in turn.
inline constexpr std::int64_t staging_places = 2;

// A run may move a counter on by less than this: 2^35 runs are possible before counters of 64 bits overflow.
inline constexpr std::int64_t most_counter_span = std::int64_t{1} << 28;

// The unit of offsets and lengths. Data that is only moved is counted in packed bytes, since the two ends of a message
// may use different datatypes; reduced data in elements of its datatype.
enum class Unit : std::uint8_t { bytes, elements };

// One rank's part in a collective: operations in program order with their dependencies. Plain data, which other layers
// run, prove, draw and print. Built by a Builder.
struct Schedule {
  Rank rank = 0;
  Rank ranks = 1;
  Unit unit = Unit::bytes;
  std::int32_t channels = 1;          // message channels used, the same number on every rank
  std::int32_t counters = 0;          // counters of each rank in shared memory, the same number on every rank
  std::int64_t counter_span = 0;      // increment of every counter per run, the same on every rank
  std::int32_t notices = 0;           // counters of each rank in its window, likewise
  std::int64_t notice_span = 0;       // likewise; but see tells_of_staging
  std::vector<std::int64_t> scratch;  // units of each scratch block
  std::vector<std::int64_t> slots;    // units of each slot block, the same on every rank
  std::vector<std::int64_t> boxes;    // units of each box, the same on every rank
  std::vector<std::int64_t> staging;  // units of a place of each staging block, likewise
  std::vector<Rank> offload;          // who runs collectives of the MPI's own, the same on each of them; else none
  std::vector<Operation> operations;
  std::vector<Region> regions;
  std::vector<Dependency> dependencies;
  std::vector<Loop> loops;

  std::span<const Region> regions_of(const Operation& operation) const {
    return {regions.data() + operation.first_region, static_cast<std::size_t>(operation.regions)};
  }
  std::span<const Dependency> dependencies_of(const Operation& operation) const {
    return {dependencies.data() + operation.first_dependency, static_cast<std::size_t>(operation.dependencies)};
  }

  // Each staging block has two notices beyond the others: one that the source sets at the target when it has filled a
  // place, and one that the target sets at the source when it has taken the data out. These are never moved on: they
  // count the runs that use the block, and values are relative to those before (see StagingRuns).
  bool tells_of_staging(std::int32_t notice) const { return notice >= notices; }
  // How much a run moves a counter on.
  std::int64_t span(Board board) const { return board == Board::counter ? counter_span : notice_span; }
  // Whether it needs a window. All that is one-sided is told by notices.
  bool one_sided() const { return notices > 0; }
  // Whether notices are all that it sends. If that is so on every rank, as in a barrier, they are its messages.
  bool only_notifies() const;

  // The memory of the schedule itself.
  std::int64_t bytes() const;
  // Total units of all scratch blocks.
  std::int64_t scratch_units() const;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// The first structural error of a schedule, or an empty string: forward dependencies, regions outside their block,
// wrong operand counts, invalid loops. Errors that involve other ranks are found by the proof.
std::string malformed(const Schedule& schedule);

// The first operation that uses a slot or waits for a counter of a rank that shares no memory with this one, or an
// empty string. Windows reach every rank.
std::string beyond_shared_memory(const Schedule& schedule, const std::function<bool(Rank)>& shares_memory);

// As text, one operation per line.
std::string to_text(const Schedule& schedule);
std::string to_text(const Schedule& schedule, std::int32_t operation);

// from_json throws std::invalid_argument for an invalid schedule.
std::string to_json(const Schedule& schedule);
Schedule from_json(std::string_view json);

}  // namespace quadrille
