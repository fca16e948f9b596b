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

// What sets the collectives apart, as far as tools and tests need to know.
struct Traits {
  // What a rank has on each side: nothing, its own block, or the blocks of all ranks.
  enum class Side : std::uint8_t { nothing, own, all };

  Side input = Side::own;
  Side output = Side::own;
  bool rooted = false;
  bool reduces = false;
  bool prefix = false;        // of a reduction: over this rank and those below it
  bool exclusive = false;     // and of a prefix: without this rank
  bool synchronises = false;  // nobody ends before everybody has begun
  bool separate_blocks =
      false;  // v and w collectives: each block in a place of its own, the builder does not see its size
  bool counts_differ = false;   // blocks of different sizes known to all: Problem::shares
  bool may_be_in_place = true;  // if it is rooted, at the root

  bool moves_data() const { return output != Side::nothing; }
  // Whether the problem's count is that of one block of many; else the data may be cut as an algorithm likes.
  bool in_blocks() const { return input == Side::all || output == Side::all; }

  friend bool operator==(const Traits&, const Traits&) = default;
};
Traits traits(Collective collective);

// The problem as the collective's buffers stand: lengths filled in, input named output where it is in place.
Problem problem_of(Collective collective, Problem problem);

// The unit a schedule of this collective counts in.
Unit unit_of(Collective collective);

// Where a range of a rank's output comes from: the range `from` of one rank, or, of a reduction, of several in rank
// order, which may have it in their input or, in place, in their output. This is the definition that proof and replay
// hold every algorithm against.
struct Meaning {
  Region output;
  bool reduced = false;
  Rank source = 0;  // of what is moved; of a reduction the first of them
  Rank end = 0;     // of a reduction: behind the last of them
  Region from;
};
std::vector<Meaning> meaning(Collective collective, const Problem& problem);

// Makes one rank's schedule; the problem says which.
using Build = std::function<Schedule(const Problem&)>;

// How many units one rank sends to another, for collectives with a block for each peer.
using BlockSizes = std::function<std::int64_t(Rank from, Rank to)>;

// The blocks of the caller's buffers on one rank: how many there are, and the units of each.
std::int32_t block_count(Collective collective, const Problem& problem, Buffer buffer);
std::int64_t block_units(Collective collective, const Problem& problem, const BlockSizes& sizes, Buffer buffer,
                         std::int32_t block);

// Whether a rank's buffer holds data of the caller's before the collective starts.
bool given(Collective collective, const Problem& problem, Buffer buffer);

}  // namespace quadrille
