#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "algorithms/collective.hpp"
#include "knowledge/traffic.hpp"
#include "select/case.hpp"
#include "trace/ranks.hpp"

// What a program asked its MPI for: messages by pair of ranks, collective calls by communicator and kind, and where its
// time went. The same calls are counted together, so that a trace grows with what is different, not with time. The
// drop-in writes it, docs/reference/trace.md describes the file.
namespace quadrille::trace {

using knowledge::Traffic;

// How a collective was called.
enum class Form : std::uint8_t { blocking, non_blocking, persistent };
inline constexpr std::array<std::string_view, 3> form_names = {"blocking", "non-blocking", "persistent"};

// What a rank does inside of MPI. To send and receive at once counts as receiving, since it lasts until something came.
enum class Activity : std::uint8_t { send, receive, wait, test, collective };
inline constexpr std::size_t activities = 5;
inline constexpr std::array<std::string_view, activities> activity_names = {"send", "receive", "wait", "test",
                                                                            "collective"};

struct RankTimes {
  double wall = 0;  // from the end of MPI_Init to the start of MPI_Finalize
  std::array<double, activities> spent = {};

  double in(Activity activity) const { return spent[static_cast<std::size_t>(activity)]; }
  double inside() const;
  // The program's own, and functions of MPI that are not traced. Tests for messages are known by samples, which may be
  // more than there was.
  double outside() const { return std::max(0.0, wall - inside()); }
};

// What calls of one collective have in common that are counted together: all that a policy chooses by. Of gatherv,
// scatterv, alltoallv, alltoallw and calls among neighbours no rank knows all sizes: they have no count, but blocks.
struct Kind {
  Collective collective = Collective::barrier;
  Form form = Form::blocking;
  bool neighbours = false;  // of a process topology
  bool in_place = false;    // see Case, as all below
  bool commutative = true;
  bool rounded = false;  // sizes from the count on to the next that has three significant bits
  Rank root = 0;
  std::int64_t count = 0;
  std::int64_t unit_bytes = 1;

  bool has_blocks() const { return neighbours || !sizes_are_known(collective); }
  // As a call on so many ranks, of which nobody knows where they are.
  Case asked(Rank ranks) const;
  // The same with its count rounded.
  Kind coarser() const;

  friend auto operator<=>(const Kind&, const Kind&) = default;
};

// By source and destination.
using Pairs = std::map<Rank, std::map<Rank, Traffic>>;
Traffic sum_of(const Pairs& pairs);

struct Calls {
  std::int64_t calls = 0;  // of each rank; if they differ, of the one with the most
  std::int64_t bytes = 0;  // that all ranks together passed in, or received where they passed in nothing
  double seconds = 0;      // of all ranks, in the calls themselves: waits for non-blocking ones are waits
  double longest = 0;      // of the rank with the most
  double waited = 0;       // of all ranks, for others, before the calls; where the ranks met, else it is in the seconds
  Pairs blocks = {};       // by ranks of the communicator; of an intercommunicator destinations are of the other group

  void merge(const Calls& other);
};

// By ranks of MPI_COMM_WORLD.
struct Communicator {
  Ranks ranks;        // none: one of more communicators than are told apart, or with ranks of another world
  Ranks remote = {};  // the other group of an intercommunicator

  bool inter() const { return !remote.empty(); }
  friend auto operator<=>(const Communicator&, const Communicator&) = default;
};

// The destination of messages to ranks of another MPI_COMM_WORLD.
inline constexpr Rank another_world = -1;

struct Trace {
  // Empty where it isn't known.
  std::string program = {};
  std::string mpi = {};
  std::string host = {};  // of rank 0
  std::string date = {};
  Rank ranks = 0;
  std::map<Rank, RankTimes> times = {};  // by rank
  Pairs messages = {};                   // that the program sent, each counted by its sender
  std::map<Communicator, std::map<Kind, Calls>> collectives = {};

  // Adds what other ranks recorded.
  void merge(const Trace& other);
  std::int64_t calls() const;   // of collectives, of all ranks
  double wall_seconds() const;  // of the slowest rank
  double mean(Activity activity) const;
  double waited() const;  // seconds of all ranks, before collectives
  double mean_outside() const;
};

std::string to_text(const Trace& trace);
// Throws std::invalid_argument with the line's number.
Trace from_text(std::string_view text);
// Throws std::invalid_argument with the file's name.
Trace read(const std::string& path);

}  // namespace quadrille::trace
