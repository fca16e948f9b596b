#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "schedule/group.hpp"
#include "schedule/hazards.hpp"
#include "schedule/index.hpp"
#include "schedule/schedule.hpp"

namespace quadrille {

// One of the pieces that for_each_segment cuts data into: the same cut applies to every buffer of the algorithm.
struct Segment {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  bool clipped = false;
  std::int64_t number = 0;  // of the first one, where it stands for several

  // What an iteration adds to the number.
  std::int64_t step() const { return stride != 0 ? 1 : 0; }

  Region of(const Region& region) const {
    Region piece = region.part(offset, length);
    if (stride != 0) piece.stride = stride;  // else it may be a segment already, and moves as it did
    piece.clipped = clipped || region.clipped;
    return piece;
  }
  // A place for it in a ring of `places` segments, which take turns; the rest behind the loop has one of its own, at
  // the end.
  Region in_ring(const Region& ring, std::int32_t places) const {
    const bool rest = stride == 0 && offset > 0;
    Region piece = ring.part(rest ? ring.length - length : 0, length);
    piece.stride = stride;
    piece.cycle = stride != 0 ? places : 0;
    piece.clipped = clipped;
    return piece;
  }
};

// An operation just added; none if there was nothing to do (an empty range).
struct Added {
  std::int32_t operation = -1;
};

// Writes one rank's schedule, in the order of the algorithm's pseudocode.
//
// Dependencies come by themselves: an operation follows the earlier ones whose data it reads or overwrites, and
// messages of one (peer, direction, channel) and the settings of one counter are posted in program order. What data
// does not show (signals, counters) is ordered by in_order, fence or after. Operations on a known length of 0 are left
// out, on both ends alike.
//
// Peers are ranks of the innermost group (see within). Not thread-safe; one builder makes one schedule.
class Builder {
 public:
  Builder(Rank rank, Rank ranks, Unit unit);

  // Messages. Without data: a bare signal, always sent.
  Added send(Rank to, const Region& data) { return message(Kind::send, to, {&data, 1}); }
  Added send(Rank to, std::span<const Region> data) { return message(Kind::send, to, data); }
  Added send_signal(Rank to) { return message(Kind::send, to, {}); }
  Added receive(Rank from, const Region& data) { return message(Kind::receive, from, {&data, 1}); }
  Added receive(Rank from, std::span<const Region> data) { return message(Kind::receive, from, data); }
  Added receive_signal(Rank from) { return message(Kind::receive, from, {}); }

  // Local work. A copy onto itself is left out. In a reduction the target may be the right operand.
  Added copy(const Region& source, const Region& target);
  Added reduce(const Region& left, const Region& right, const Region& target);

  // Shared memory: counters only grow; values are relative to the counter at the run's start.
  Added publish(std::int32_t counter, std::int64_t value, std::int64_t value_stride = 0);
  Added wait(Rank owner, std::int32_t counter, std::int64_t value, std::int64_t value_stride = 0);
  // Where a counter tells how many segments are done: this one is, or the one so many before it.
  Added publish(std::int32_t counter, const Segment& segment) {
    return publish(counter, segment.number + 1, segment.step());
  }
  Added wait(Rank owner, std::int32_t counter, const Segment& segment, std::int64_t before = 0) {
    return wait(owner, counter, segment.number + 1 - before, segment.step());
  }

  // One-sided.
  Added put(Rank to, const Region& source, const Region& target);
  Added flush(Rank to);
  Added notify(Rank to, std::int32_t counter, std::int64_t value, std::int64_t value_stride = 0);
  Added await(std::int32_t counter, std::int64_t value, std::int64_t value_stride = 0);

  // A new scratch block of this many units, and a slot block that peers can reach.
  Region scratch(std::int64_t units);
  Region slot(std::int64_t units);
  // Block `block` of a peer's slots.
  Region slot_of(Rank owner, std::int32_t block, std::int64_t units) const;
  // How far one run moves every counter on; the same number on every rank.
  void counters(std::int32_t count, std::int64_t span);
  // One more counter, that goes up to `most`. To be asked for by all ranks alike.
  std::int32_t counter(std::int64_t most);

  // `step` waits for `earlier`, too.
  void after(Added step, std::initializer_list<Added> earlier);

  // A phase ends: everything from here on follows everything before. Inside a loop this holds in each iteration by
  // itself: the next one need not wait for it.
  void fence();

  // Inside body, each operation follows the one before it.
  template <class Body>
  void in_order(Body&& body) {
    const bool outer = std::exchange(in_order_, true);
    if (!outer) previous_ = -1;
    body();
    in_order_ = outer;
  }

  // Calls body(Segment) for a loop over the full segments of `length` units and once more for the rest, so that a
  // schedule's size does not depend on the length. At most `window` segments are in flight. Inside another segment
  // loop the data is a segment already and is not cut again.
  template <class Body>
  void for_each_segment(std::int64_t length, std::int64_t segment, std::int32_t window, Body&& body) {
    if (segment <= 0 || segment >= length || loop_ >= 0) {
      body(Segment{.length = length});
      return;
    }
    const std::int64_t full = length / segment;
    const std::int64_t rest = length % segment;
    if (full == 1) {
      body(Segment{.length = segment});
    } else {
      begin_loop(full, window);
      body(Segment{.length = segment, .stride = segment});
      end_loop();
    }
    if (rest > 0) body(Segment{.offset = full * segment, .length = rest, .number = full});
  }

  // The same over a whole block whose length is known only when it is bound; the last chunk may be shorter.
  template <class Body>
  void for_each_chunk(const Region& block, std::int64_t chunk, std::int32_t window, Body&& body) {
    begin_chunk_loop(block, chunk, window);
    body(Segment{.length = chunk, .stride = chunk, .clipped = true});
    end_loop();
  }

  // Inside body, peers are ranks of `group` (itself in ranks of the group around it), of which this rank must be a
  // member, and channels are counted from `channel` on, so that parts of a composition cannot meet.
  template <class Body>
  void within(const Group& group, std::int32_t channel, Body&& body) {
    groups_.push_back(group);
    channel_ += channel;
    body();
    channel_ -= channel;
    groups_.pop_back();
  }

  // The channel of the messages that follow.
  void use_channel(std::int32_t channel) { own_channel_ = channel; }

  // This rank in the innermost group.
  Rank rank() const;
  Rank ranks() const;

  // The finished schedule; the builder is spent. `channels` is what the algorithm may use on any rank.
  Schedule finish(std::int32_t channels = 1);

 private:
  // Messages of one direction between this rank and a peer on one channel match in the order they are posted, and a
  // counter must not go back: both are posted in program order. The ends of each such stream.
  struct StreamEnds {
    std::int32_t first_in_loop = -1;
    std::int32_t last = -1;
  };
  // `of` depends on `on`.
  struct Edge {
    std::int32_t of;
    Dependency on;
  };
  struct Put {
    std::int32_t operation;
    Rank peer;
    Region source;
    Region target;
  };

  Added message(Kind kind, Rank peer, std::span<const Region> data);
  Added add_counting(Kind kind, Rank peer, std::int32_t counter, std::int64_t value, std::int64_t value_stride);
  Added add(Operation operation, std::span<const Region> data);
  void begin_loop(std::int64_t iterations, std::int32_t window);
  void begin_chunk_loop(const Region& block, std::int64_t chunk, std::int32_t window);
  void end_loop();
  void depend(std::int32_t operation, Dependency dependency);
  void depend_by_data(std::int32_t operation, const Region& region, bool write);
  void depend_by_stream(std::int32_t operation, std::int32_t channel_or_counter);
  std::vector<Region> written_in(const Loop& loop) const;
  std::int32_t join_behind(const Loop& loop);
  void carry_data(std::int32_t earlier, std::int32_t later, const Loop& loop);
  std::int32_t completion_in_loop(std::int32_t operation, const Loop& loop) const;
  Range loop_range(const Region& region) const;
  void lay_out_dependencies();
  Rank outward(Rank peer) const;

  Schedule schedule_;
  Hazards hazards_;
  std::vector<Edge> edges_;        // laid out by operation at the end
  std::size_t edges_at_loop_ = 0;  // how many there were when the open loop began
  Index<3> stream_numbers_;        // by kind, peer and channel or counter
  std::vector<StreamEnds> streams_;
  std::vector<std::size_t> loop_streams_;  // those with an operation in the open loop
  std::vector<Put> unflushed_;
  std::vector<Group> groups_;
  std::int32_t channel_ = 0;
  std::int32_t own_channel_ = 0;
  std::int32_t loop_ = -1;
  std::int32_t fence_ = -1;
  bool in_order_ = false;
  bool loop_in_order_ = false;  // the open loop stands inside in_order: its iterations follow one another
  std::int32_t previous_ = -1;
};

}  // namespace quadrille
