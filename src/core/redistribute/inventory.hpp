#pragma once

#include <cstdint>
#include <vector>

#include "redistribute/job.hpp"
#include "redistribute/occupancy.hpp"
#include "redistribute/settle.hpp"
#include "redistribute/space.hpp"

namespace quadrille::redistribute {

// What the places of a job hold: nothing (holes), received data (fragments), or else data that is still to be sent or
// to arrive. It moves received data to its home, and knows nothing of messages. Both lists are limited; all memory is
// allocated by the constructor.
class Inventory {
 public:
  // The maximum it allocates.
  static std::int64_t bookkeeping_bytes(Rank ranks, std::int64_t in_flight);

  // The job must outlive it. Throws std::invalid_argument if there is no extra memory.
  explicit Inventory(const Job& job);

  const Space& space() const { return space_; }
  const Holes& holes() const { return holes_; }
  // The number of ranges that wait for data.
  std::int64_t reserved() const { return reserved_; }
  // Whether the lists have no room for one more reservation.
  bool full() const { return static_cast<std::int64_t>(fragments_.size()) + reserved_ + 1 > limit_; }
  bool at_home() const;
  // How many holes it has looked at.
  std::int64_t looks() const { return looks_; }

  // Before anything is sent or received.
  void lay_out();
  // A hole, or part of one, is to receive data.
  void reserve(const Range& places);
  // The data of a reservation.
  void add_arrived(const Fragment& fragment);
  // The places among these addresses, whose data has been sent, become holes.
  void add_sent(const Range& addresses);

  // Moves received data to its home where that is free. Looks only at what has become free or has arrived since.
  void move_home();
  // Sorts all received data by home, within holes and fragments.
  void settle_all();
  // Copies the parts of the own block that are outside the places. All else must have been sent and received.
  void copy_own();

 private:
  bool has_many_fragments() const;
  void look_later(const Range& places);
  void move_into(const Range& places);
  void list_rooms();

  const Job& job_;
  Space space_;
  Holes holes_;
  Fragments fragments_;
  std::vector<Fragment> spare_;
  std::vector<Range> rooms_;        // while settling: holes and fragments
  std::vector<Run> runs_;           // likewise, one after another in memory
  std::int64_t slack_ = 0;          // fragments beyond the required minimum
  std::int64_t settled_limit_ = 0;  // maximum number of fragments after settling
  std::int64_t limit_ = 0;          // maximum number of fragments
  std::int64_t reserved_ = 0;
  std::vector<Range> to_look_at_;  // places where holes and homes may have met
  bool look_at_all_ = false;       // since there were more
  std::int64_t looks_ = 0;
};

}  // namespace quadrille::redistribute
