#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "redistribute/inventory.hpp"
#include "redistribute/job.hpp"
#include "run/machine.hpp"
#include "run/memory.hpp"

namespace quadrille::redistribute {

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
// The memory depends only on the number of messages, as the inventory is limited. If it is full, received data is
// settled within the available places, and granting continues.
//
// Elements with gaps are packed in messages and in the extra memory. The job limits how many of its sends, and how many
// receives, may have to be packed at a time, and how long they are. A send waits for nothing but its receive, which is
// posted; so sends that wait for others to be complete hold nobody up for good.
class Redistribution final : public Machine {
 public:
  static constexpr std::int64_t max_in_flight = 32;
  static constexpr std::int64_t max_awaited = 32;  // receives for grants, from anyone

  // The number of words that a job needs: three for each grant that is awaited or sent.
  static constexpr std::int64_t words = 3 * (max_awaited + max_in_flight);
  // The maximum it allocates, besides the job's memory.
  static std::int64_t bookkeeping_bytes(Rank ranks);
  // The blocks of its messages: output block 0 is the buffer, scratch block 0 the extra memory, 1 the words, all in
  // packed bytes. The job must outlive it.
  static Binding binding(const Job& job);

  // The backend must outlive it.
  Redistribution(const Job& job, Backend& backend);
  Redistribution(const Redistribution&) = delete;
  Redistribution& operator=(const Redistribution&) = delete;

  void start() override;
  bool advance() override;
  void complete(Token token) override;
  bool done() const override { return done_; }
  std::vector<std::string> awaited() const override;

  // The number of times the lists were full; and how many sources, destinations and holes it has looked at.
  std::int64_t times_full() const { return times_full_; }
  std::int64_t looks() const { return looks_ + inventory_.looks(); }

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
    std::int32_t next = -1;    // of those that are not fully granted
  };
  struct Destination {
    Rank rank = 0;
    std::int64_t address = 0;
    std::int64_t count = 0;
    std::int64_t sent = 0;  // or in flight
    std::int64_t granted = 0;
    std::array<Range, at_once> grants = {};   // of elements, received and not used yet; empty: unused
    bool queued = false;                      // to be served
    std::int32_t next = -1;                   // to be served after it
    bool waits = false;                       // with a grant, for a send to complete
    std::array<Range, at_once> sending = {};  // addresses; empty: unused
  };
  struct Grant {
    std::int32_t source = -1;  // negative: unused
    bool sent = false;
    bool arrived = false;
    Fragment fragment;
  };

  void await_grants();
  void await_grant(std::size_t place);
  void grant_received(std::size_t place);
  void serve_later(std::int32_t number);
  void serve(std::int32_t number);
  void send_what_was_granted();
  void grant();
  bool grant_to(Source& source);
  // The places for the next elements of a source; empty: none at the moment.
  Range choose(const Source& source);
  Range large_hole(std::int64_t left, std::int64_t wanted);
  Range choose_at(std::int64_t place, std::int64_t left) const;
  std::int64_t chunk(std::int64_t place) const;
  void end_grant(Grant& grant);
  bool ended() const { return awaited_ == 0 && unsent_ == 0 && grants_out_ == 0; }

  Job job_;
  Backend& backend_;
  Inventory inventory_;
  std::vector<Source> sources_;
  std::vector<Destination> destinations_;
  std::vector<Grant> grants_;
  std::vector<std::int32_t> by_rank_;   // destinations
  std::vector<std::int32_t> unused_;    // places to await grants in
  std::int32_t first_to_serve_ = -1;    // destination with an unused grant
  std::int32_t last_to_serve_ = -1;     // likewise, if there is a first
  std::int32_t first_open_ = -1;        // source that is not fully granted
  std::int64_t open_destinations_ = 0;  // that have not granted all
  std::int64_t look_from_ = 0;          // place
  std::int64_t awaited_ = 0;            // elements
  std::int64_t unsent_ = 0;             // likewise; until the send completes
  std::int64_t grants_out_ = 0;         // whose message or data is in flight
  std::int64_t sends_out_ = 0;          // data messages
  std::int64_t times_full_ = 0;
  std::int64_t looks_ = 0;
  bool changed_ = false;
  bool done_ = false;
};

}  // namespace quadrille::redistribute
