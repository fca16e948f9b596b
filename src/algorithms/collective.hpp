#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "compose/problem.hpp"

namespace quadrille {

enum class Collective : std::uint8_t { barrier, bcast, allreduce, alltoallv };
inline constexpr int collectives = 4;

std::string_view name(Collective collective);
std::optional<Collective> collective_named(std::string_view name);

// What sets the collectives apart, as far as tools and tests need to know.
struct Traits {
  bool rooted = false;
  bool reduces = false;
  bool moves_data = true;
  bool synchronises = false;         // nobody ends before everybody has begun
  bool block_for_each_peer = false;  // v and w collectives: the builder does not see the counts
  bool may_be_in_place = false;
};
Traits traits(Collective collective);

// The problem as the collective's buffers stand: lengths filled in, input named output where it is in place.
Problem problem_of(Collective collective, Problem problem);

// The unit a schedule of this collective counts in.
Unit unit_of(Collective collective);

// Where a range of a rank's output comes from: the range `from` of one rank, or, of a reduction, of all ranks in rank
// order. This is the definition that proof and replay hold every algorithm against.
struct Meaning {
  Region output;
  bool reduced = false;
  Rank source = 0;  // of what is moved
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
