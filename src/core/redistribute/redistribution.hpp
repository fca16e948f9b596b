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

// One rank's part in an irregular all-to-all within one buffer. Everything is borrowed, until the machine is gone. What
// a rank sends to another must be as long as what that one receives from it; nobody checks. Send blocks may lie over
// receive blocks in any way.
struct Job {
  Rank rank = 0;
  Rank ranks = 1;
  Blocks send;
  Blocks receive;
  std::int64_t element_bytes = 1;
  std::byte* data = nullptr;      // the buffer; all displacements are from here, none is negative
  std::span<std::byte> extra;     // at least one element
  std::span<std::int64_t> words;  // what grants say; as many as Redistribution::words tells
  std::int64_t in_flight = 8;     // chunks that are asked for at a time; at most Redistribution::max_in_flight
  std::int64_t slack = -1;        // fragments it may have beyond those it can't do without; negative: by itself
};

// Moves blocks of any size from anywhere to anywhere in one buffer, with as little further memory as one element a
// rank: what M. Hofmann and G. Ruenger, "An in-place algorithm for irregular all-to-all communication with limited
// memory" (EuroMPI 2010), does in phases, here by what arrives.
//
// A place of the receive blocks or of the extra memory is free (a hole), or waits for data, or holds what is still to
// be sent, or what has arrived, perhaps not where it belongs. A rank that has a hole grants it: posts a receive into it
// and tells a source how many elements fit. The source sends the next so many, straight from the buffer, and their
// places become holes in turn. So data is sent only where its receive is posted. What lies elsewhere than at home moves
// there as soon as that is free, and the rest at the end (settle). Only places are ever written.
//
// It ends: holes = extra places + what is still to come - what is still to go from places. A rank that waits for data
// and has no hole therefore has more to send than to come. If nobody had anything under way, each rank that waits would
// be such a one, and together they would have more to send than is to come anywhere.
//
// Sources are taken in the order of a tournament, so that two ranks meet at the same time.
//
// Memory depends on the number of messages alone: the lists of holes and fragments are limited. If they are full, what
// has arrived is settled as far as the room goes, and granting goes on.
class Redistribution final : public Machine {
 public:
  static constexpr std::int64_t max_in_flight = 32;

  // How many words a job needs.
  static std::int64_t words(Rank ranks) { return ranks + max_in_flight; }
  // What it allocates at most, besides what the job brings.
  static std::int64_t bookkeeping_bytes(Rank ranks);
  // What its messages name: output block 0 is the buffer, scratch block 0 the extra memory, 1 the words, all in bytes.
  static Binding binding(const Job& job);

  // The backend must outlive it.
  Redistribution(const Job& job, Backend& backend);

  void start() override;
  bool advance() override;
  void complete(Token token) override;
  bool done() const override { return done_; }
  std::vector<std::string> awaited() const override;

  // How often the lists were full.
  std::int64_t times_full() const { return times_full_; }

 private:
  // Grants to one source, and sends to one destination, at a time.
  static constexpr std::int64_t at_once = 2;

  struct Source {
    Rank rank = 0;
    std::int32_t out = 0;      // grants
    std::int64_t home = 0;     // of its first element
    std::int64_t count = 0;    // elements
    std::int64_t granted = 0;  // likewise
    std::int64_t arrived = 0;  // likewise
    std::int64_t behind = -1;  // the place behind the last one granted
  };
  struct Destination {
    Rank rank = 0;
    std::int64_t address = 0;
    std::int64_t count = 0;
    std::int64_t sent = 0;                    // or being sent
    std::int64_t grant = 0;                   // that came, and is not used yet
    std::array<Range, at_once> sending = {};  // addresses; empty: not in use
  };
  struct Grant {
    std::int32_t source = -1;  // none: not in use
    bool told = false;
    bool arrived = false;
    Fragment fragment;
  };

  void lay_out();
  void await_grant(std::size_t destination);
  void send_what_was_granted();
  void bring_home();
  void grant();
  bool grant_to(Source& source);
  // Where the next elements of a source are to go; empty: nowhere for now.
  Range choose(const Source& source) const;
  Range choose_at(std::int64_t place, std::int64_t left) const;
  std::int64_t chunk(std::int64_t place) const;
  void end_grant(Grant& grant);
  void fetch_own();
  void put_in_order();
  void list_rooms();
  bool ended() const { return awaited_ == 0 && unsent_ == 0 && grants_out_ == 0; }
  std::int64_t fragments_to_come() const { return static_cast<std::int64_t>(fragments_.size()) + reserved_; }

  Job job_;
  Backend& backend_;
  Space space_;
  std::vector<Source> sources_;
  std::vector<Destination> destinations_;
  std::vector<std::int32_t> to_serve_;  // destinations whose grant came
  std::vector<Grant> grants_;
  Holes holes_;
  Fragments fragments_;
  std::vector<Fragment> spare_;
  std::vector<Range> rooms_;        // while it settles: holes and fragments together
  std::vector<Run> runs_;           // likewise, as they lie in memory
  std::int64_t settled_limit_ = 0;  // fragments there are after settling, at most
  std::int64_t limit_ = 0;          // fragments there may be
  std::size_t first_open_ = 0;      // all sources before it are granted all they have
  std::int64_t awaited_ = 0;        // elements
  std::int64_t unsent_ = 0;         // likewise; until their send has ended
  std::int64_t grants_out_ = 0;     // of which the word or the data is under way
  std::int64_t reserved_ = 0;       // of which the data is
  std::int64_t times_full_ = 0;
  bool changed_ = false;
  bool done_ = false;
};

}  // namespace quadrille::redistribute
