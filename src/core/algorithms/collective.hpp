#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <quadrille/collective.hpp>
#include <string_view>
#include <vector>

#include "compose/problem.hpp"

namespace quadrille {

std::string_view name(Collective collective);
std::optional<Collective> collective_named(std::string_view name);

// The properties of a collective.
struct Traits {
  // A rank's input or output: nothing, its own block, or the blocks of all ranks.
  enum class Side : std::uint8_t { nothing, own, all };

  Side input = Side::own;
  Side output = Side::own;
  bool rooted = false;
  bool reduces = false;
  bool prefix = false;        // of a reduction: over this rank and lower ranks
  bool exclusive = false;     // of a prefix: without this rank
  bool synchronises = false;  // no rank ends before every rank has begun
  bool separate_blocks =
      false;  // v and w collectives: blocks are not contiguous, and their sizes are unknown to the builder
  bool counts_differ = false;   // blocks of different sizes, known to all ranks: Problem::shares
  bool may_be_in_place = true;  // of a rooted collective: at the root

  bool moves_data() const { return output != Side::nothing; }
  // Whether the problem's count is that of one of many blocks; otherwise an algorithm may divide the data freely.
  bool in_blocks() const { return input == Side::all || output == Side::all; }

  friend bool operator==(const Traits&, const Traits&) = default;
};
const Traits& traits(Collective collective);

// The problem with the lengths of the collective's buffers, and the output as input if in place.
Problem problem_of(Collective collective, Problem problem);
// The same, of another rank.
Problem problem_of(Collective collective, Problem problem, Rank rank);

// The unit of this collective's schedules.
Unit unit_of(Collective collective);

// The source of a range of a rank's output: the range `from` of one rank or, for a reduction, of several ranks in rank
// order, in their input or, in place, in their output. Proof and replay check every algorithm against this definition.
struct Meaning {
  Region output;
  bool reduced = false;
  Rank source = 0;  // the source; of a reduction the first rank
  Rank end = 0;     // of a reduction: one past the last rank
  Region from;
};
std::vector<Meaning> meaning(Collective collective, const Problem& problem);

// Builds the schedule of the problem's rank.
using Build = std::function<Schedule(const Problem&)>;

// Units that one rank sends to another, for collectives with a block for each peer.
using BlockSizes = std::function<std::int64_t(Rank from, Rank to)>;

// The number of blocks in a caller's buffer, and the units of each.
std::int32_t block_count(Collective collective, const Problem& problem, Buffer buffer);
std::int64_t block_units(Collective collective, const Problem& problem, const BlockSizes& sizes, Buffer buffer,
                         std::int32_t block);

// Whether a buffer holds the caller's data before the collective starts.
bool given(Collective collective, const Problem& problem, Buffer buffer);

}  // namespace quadrille
