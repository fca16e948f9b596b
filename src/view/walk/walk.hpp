#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "draw/payload.hpp"
#include "draw/timeline.hpp"
#include "schedule/data.hpp"
#include "verify/execution.hpp"

// An execution to be walked through: what is sent in each step, and what each rank holds after it.
namespace quadrille::walk {

// A part of a block that is always written as a whole, on whatever rank.
struct Place {
  Buffer buffer = Buffer::input;
  std::int32_t block = 0;
  Range part;
  std::uint64_t ranks = 0;  // a bit for each rank that has the block

  friend bool operator==(const Place&, const Place&) = default;
};

// From a step on, a rank holds this in a place.
struct Change {
  std::int64_t step = 0;  // 0: at the start, and what is copied before the first message
  Rank rank = 0;
  std::int32_t place = 0;
  draw::Payload held;
};

// That a rank goes on when a counter has been set: a notice in its window, or a counter of another rank's in shared
// memory.
struct Signal {
  Board board = Board::notice;
  Rank from = 0;
  Rank to = 0;
  std::int64_t step = 0;

  friend auto operator<=>(const Signal&, const Signal&) = default;
};

struct Walk {
  draw::Timeline timeline;
  std::vector<Place> places;
  std::vector<Change> changes;      // by step
  std::vector<Signal> signals;      // sorted, without duplicates; none that the timeline has as a transfer
  std::vector<std::int32_t> nodes;  // by rank; none: one node
  // Where signals are all that there is: by step from 0 and by rank, the ranks that it has heard of.
  std::vector<std::vector<std::uint64_t>> heard;

  // What a rank holds after a step, by place; no ranks: nothing.
  std::vector<draw::Payload> held(Rank rank, std::int64_t step) const;
};

// Executes the subject. Throws std::runtime_error if that fails, and std::invalid_argument for more than
// draw::most_ranks ranks or for more places than are readable.
Walk walk_of(const verify::Subject& subject);

// What is said of the algorithm besides.
struct Heading {
  std::string title;
  std::vector<std::string> facts;  // after the numbers of ranks, steps and transfers
  std::vector<std::string> paragraphs;
  std::string footer;
};

// A page to step through it.
std::string to_html(const Walk& walk, const Heading& heading);

}  // namespace quadrille::walk
