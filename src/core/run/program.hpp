#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace quadrille {

// A schedule with what a run looks up again and again. Made once, shared by all runs of the schedule.
class Program {
 public:
  explicit Program(Schedule schedule);
  // Borrows the schedule, which must outlive the program.
  static Program over(const Schedule& schedule);

  const Schedule& schedule() const { return *schedule_; }
  const Operation& operation(std::int32_t id) const { return schedule_->operations[static_cast<std::size_t>(id)]; }
  std::int32_t operations() const { return static_cast<std::int32_t>(schedule_->operations.size()); }
  // The operations that wait for this one to be posted, or to be complete.
  std::span<const std::int32_t> successors(std::int32_t id, bool posted) const {
    const std::size_t list = successor_list(id, posted);
    const auto first = static_cast<std::size_t>(first_successor_[list]);
    return {successors_.data() + first, static_cast<std::size_t>(first_successor_[list + 1]) - first};
  }

  // Messages of one direction are numbered in program order; the posting rule is a window over these numbers.
  struct Numbering {
    std::int32_t segment = -1;  // -1: not a message
    std::int32_t first = 0;     // within the segment
    std::int32_t stride = 0;
  };
  // A segment is a loop or the straight run between loops; how many messages a loop holds is known at the start.
  struct MessageSegment {
    std::int32_t loop = -1;
    std::int32_t messages = 0;  // of a loop: an iteration's
    std::int32_t first = 0;     // of them, in messages()
  };
  const Numbering& numbering(std::int32_t id) const { return numbering_[static_cast<std::size_t>(id)]; }
  std::span<const MessageSegment> segments(Kind direction) const { return segments_[direction == Kind::send ? 0 : 1]; }
  // The direction's operations in program order.
  std::span<const std::int32_t> messages(Kind direction) const { return messages_[direction == Kind::send ? 0 : 1]; }

  // Operations that wait for none.
  std::span<const std::int32_t> first() const { return first_; }

  // Whether each operation waits for the one before it and none takes another's time to end but waits for counters:
  // then a run is a walk from one end to the other.
  bool single_file() const { return single_file_; }

  std::int32_t most_regions() const { return most_regions_; }
  // Iterations of an operation that may be posted and not complete.
  std::int32_t most_in_flight(const Operation& operation) const {
    return operation.loop < 0 ? 1 : schedule_->loops[static_cast<std::size_t>(operation.loop)].window;
  }

  // Memory that it takes, its schedule included.
  std::int64_t bytes() const;

 private:
  explicit Program(std::shared_ptr<const Schedule> schedule);
  static std::size_t successor_list(std::int32_t id, bool posted) {
    return 2 * static_cast<std::size_t>(id) + (posted ? 1 : 0);
  }
  void link_successors();
  void number_messages();
  bool is_single_file() const;

  std::shared_ptr<const Schedule> schedule_;
  std::vector<std::int32_t> first_successor_;  // of each list, two an operation
  std::vector<std::int32_t> successors_;
  std::vector<std::int32_t> first_;
  std::vector<Numbering> numbering_;
  std::array<std::vector<MessageSegment>, 2> segments_;
  std::array<std::vector<std::int32_t>, 2> messages_;
  std::int32_t most_regions_ = 0;
  bool single_file_ = false;
};

}  // namespace quadrille
