#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "redistribute/occupancy.hpp"
#include "redistribute/settle.hpp"
#include "redistribute/space.hpp"
#include "run/machine.hpp"
#include "run/memory.hpp"

namespace quadrille::redistribute {

// One rank's part in an irregular all-to-all within one buffer. All memory is borrowed for the lifetime of the machine.
// Send and receive counts must match; this is not checked. Send blocks may overlap receive blocks arbitrarily.
struct Job {
  Rank rank = 0;
  Rank ranks = 1;
  Blocks send;
  Blocks receive;
  std::int64_t element_bytes = 1;
  std::byte* data = nullptr;      // the buffer; displacements are relative to it and not negative
  std::span<std::byte> extra;     // at least one element
  std::span<std::int64_t> words;  // the contents of grants; Redistribution::words of them
  std::int64_t in_flight = 8;     // chunks granted at a time; at most Redistribution::max_in_flight
  std::int64_t slack = -1;        // fragments beyond the required minimum; negative: default
};

// Redistributes blocks of any size within one buffer, with as little as one element of extra memory per rank. Based on
// M. Hofmann and G. Ruenger, "An in-place algorithm for irregular all-to-all communication with limited memory"
// (EuroMPI 2010), but driven by arriving messages instead of phases.
//
// A place of the receive blocks or of the extra memory is free (a hole), waits for data, holds data still to be sent,
// or holds received data, possibly not at its final position. A rank grants a hole to a source: it posts a receive into
// the hole and sends the number of elements. The source sends its next elements directly from the buffer, and their
// places become holes. So data is sent only after its receive is posted. Received data moves to its home as soon as
// that is free, the rest at the end (settle). Only places are written.
//
// Termination: holes = extra places + elements to receive - elements to send from places. So a rank that waits for data
// and has no hole has more to send than to receive. If nothing were in flight, this would hold for every waiting rank,
// and in total more would be sent than received.
//
// Sources are visited in the order of a tournament, so that two ranks exchange data at the same time.
//
// The memory depends only on the number of messages: the lists of holes and fragments are limited. If they are full,
// received data is settled within the available places, and granting continues.
class Redistribution final : public Machine {
 public:
  static constexpr std::int64_t max_in_flight = 32;

  // The number of words that a job needs.
  static std::int64_t words(Rank ranks) { return ranks + max_in_flight; }
  // The maximum it allocates, besides the job's memory.
  static std::int64_t bookkeeping_bytes(Rank ranks);
  // The blocks of its messages: output block 0 is the buffer, scratch block 0 the extra memory, 1 the words, all in
  // bytes.
  static Binding binding(const Job& job);

  // The backend must outlive it.
  Redistribution(const Job& job, Backend& backend);

  void start() override;
  bool advance() override;
  void complete(Token token) override;
  bool done() const override { return done_; }
  std::vector<std::string> awaited() const override;

  // The number of times the lists were full.
  std::int64_t times_full() const { return times_full_; }

 private:
  // Concurrent grants to one source, and sends to one destination.
  static constexpr std::int64_t at_once = 2;

  struct Source {
    Rank rank = 0;
    std::int32_t out = 0;      // grants
    std::int64_t home = 0;     // of its first element
    std::int64_t count = 0;    // elements
    std::int64_t granted = 0;  // likewise
    std::int64_t arrived = 0;  // likewise
    std::int64_t behind = -1;  // one past the last granted place
  };
  struct Destination {
    Rank rank = 0;
    std::int64_t address = 0;
    std::int64_t count = 0;
    std::int64_t sent = 0;                    // or in flight
    std::int64_t grant = 0;                   // received and not used yet
    std::array<Range, at_once> sending = {};  // addresses; empty: unused
  };
  struct Grant {
    std::int32_t source = -1;  // negative: unused
    bool sent = false;
    bool arrived = false;
    Fragment fragment;
  };

  void lay_out();
  void await_grant(std::size_t destination);
  void send_what_was_granted();
  void move_home();
  void grant();
  bool grant_to(Source& source);
  // The places for the next elements of a source; empty: none at the moment.
  Range choose(const Source& source) const;
  Range choose_at(std::int64_t place, std::int64_t left) const;
  std::int64_t chunk(std::int64_t place) const;
  void end_grant(Grant& grant);
  void copy_own();
  void settle_all();
  void list_rooms();
  bool ended() const { return awaited_ == 0 && unsent_ == 0 && grants_out_ == 0; }
  std::int64_t fragments_to_come() const { return static_cast<std::int64_t>(fragments_.size()) + reserved_; }

  Job job_;
  Backend& backend_;
  Space space_;
  std::vector<Source> sources_;
  std::vector<Destination> destinations_;
  std::vector<std::int32_t> to_serve_;  // destinations with an unused grant
  std::vector<Grant> grants_;
  Holes holes_;
  Fragments fragments_;
  std::vector<Fragment> spare_;
  std::vector<Range> rooms_;        // while settling: holes and fragments
  std::vector<Run> runs_;           // likewise, contiguous in memory
  std::int64_t settled_limit_ = 0;  // maximum number of fragments after settling
  std::int64_t limit_ = 0;          // maximum number of fragments
  std::size_t first_open_ = 0;      // all sources before it are fully granted
  std::int64_t awaited_ = 0;        // elements
  std::int64_t unsent_ = 0;         // likewise; until the send completes
  std::int64_t grants_out_ = 0;     // whose message or data is in flight
  std::int64_t reserved_ = 0;       // whose data is in flight
  std::int64_t times_full_ = 0;
  bool changed_ = false;
  bool done_ = false;
};

}  // namespace quadrille::redistribute
