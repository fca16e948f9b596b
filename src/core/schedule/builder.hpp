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

// A piece of data in for_each_segment; applicable to every buffer of the algorithm.
struct Segment {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  bool clipped = false;
  std::int64_t number = 0;  // of the first one, if it stands for several

  // The increment of the number per iteration.
  std::int64_t step() const { return stride != 0 ? 1 : 0; }

  Region of(const Region& region) const {
    Region piece = region.part(offset, length);
    if (stride != 0) piece.stride = stride;  // otherwise it may be a segment already, with its own stride
    piece.clipped = clipped || region.clipped;
    return piece;
  }
  // Its place in a ring of `places` segments; the rest after the loop has its own place, at the end.
  Region in_ring(const Region& ring, std::int32_t places) const {
    const bool rest = stride == 0 && offset > 0;
    Region piece = ring.part(rest ? ring.length - length : 0, length);
    piece.stride = stride;
    piece.cycle = stride != 0 ? places : 0;
    piece.clipped = clipped;
    return piece;
  }
};

// An added operation; -1 if there was nothing to do (an empty range).
struct Added {
  std::int32_t operation = -1;
};

// Builds one rank's schedule, in the order of the algorithm's pseudocode.
//
// Dependencies are derived: an operation depends on earlier ones whose data it reads or overwrites, and messages of one
// (peer, direction, channel) and updates of one counter are posted in program order. Other dependencies (signals,
// counters) are declared by in_order, fence or after. Operations of known length 0 are omitted, at both ends.
//
// Peers are ranks of the innermost group (see within). Not thread-safe; a builder builds one schedule.
class Builder {
 public:
  Builder(Rank rank, Rank ranks, Unit unit);

  // Messages. A signal has no data and is always sent.
  Added send(Rank to, const Region& data) { return message(Kind::send, to, {&data, 1}); }
  Added send(Rank to, std::span<const Region> data) { return message(Kind::send, to, data); }
  Added send_signal(Rank to) { return message(Kind::send, to, {}); }
  Added receive(Rank from, const Region& data) { return message(Kind::receive, from, {&data, 1}); }
  Added receive(Rank from, std::span<const Region> data) { return message(Kind::receive, from, data); }
  Added receive_signal(Rank from) { return message(Kind::receive, from, {}); }

  // Local operations. A copy onto itself is omitted. The target of a reduction may be the right operand.
  Added copy(const Region& source, const Region& target);
  Added reduce(const Region& left, const Region& right, const Region& target);

  // Shared memory. Counters are monotonic; values are relative to the start of the run.
  Added publish(std::int32_t counter, std::int64_t value, std::int64_t value_stride = 0);
  Added wait(Rank owner, std::int32_t counter, std::int64_t value, std::int64_t value_stride = 0);
  // For a counter of completed segments: up to this one, or `before` segments earlier.
  Added publish(std::int32_t counter, const Segment& segment) {
    return publish(counter, segment.number + 1, segment.step());
  }
  Added wait(Rank owner, std::int32_t counter, const Segment& segment, std::int64_t before = 0) {
    return wait(owner, counter, segment.number + 1 - before, segment.step());
  }

  // One-sided, through windows. A peer's output is that of the same block, at the same place as this rank's.
  Added put(Rank to, const Region& source, const Region& target);
  Added flush(Rank to);
  Added get(Rank from, const Region& source, const Region& target);
  Added notify(Rank to, std::int32_t notice, std::int64_t value, std::int64_t value_stride = 0);
  Added await(std::int32_t notice, std::int64_t value, std::int64_t value_stride = 0);
  Added deposit(Rank to, const Region& source, const Region& box);
  Added collect(const Region& box, const Region& target);
  // For a notice of completed segments: up to this one.
  Added notify(Rank to, std::int32_t notice, const Segment& segment) {
    return notify(to, notice, segment.number + 1, segment.step());
  }
  Added await(std::int32_t notice, const Segment& segment) { return await(notice, segment.number + 1, segment.step()); }

  // A collective of the MPI's own among the ranks of a group, of which this rank must be a member: its allreduce of
  // `data`, in place, or its barrier. A schedule has one such group. In a group of one there is nothing to do.
  Added offload_allreduce(const Group& among, const Region& data) { return offload(among, {&data, 1}); }
  Added offload_barrier(const Group& among) { return offload(among, {}); }

  // A new scratch block of this many units, and a new slot block, which peers can access.
  Region scratch(std::int64_t units);
  Region slot(std::int64_t units);
  // Block `block` of a peer's slots.
  Region slot_of(Rank owner, std::int32_t block, std::int64_t units) const;
  // The increment of every counter per run; the same on every rank.
  void counters(std::int32_t count, std::int64_t span);
  // A new counter with values up to `most`. Must be called by all ranks.
  std::int32_t counter(std::int64_t most);
  // The same for notices, and a new box; the same on every rank.
  void notices(std::int32_t count, std::int64_t span);
  Region box(std::int64_t units);
  // Staging blocks, each with places of so many units; the same in every schedule that uses them.
  void staging(std::int32_t blocks, std::int64_t units);
  // A peer's region instead of this rank's own, for put, get and deposit.
  Region at(Rank peer, Region region) const {
    region.owner = outward(peer);
    return region;
  }

  // Makes `step` depend on `earlier`, too.
  void after(Added step, std::initializer_list<Added> earlier);

  // All later operations depend on all earlier ones. Inside a loop this applies within each iteration only.
  void fence();

  // Inside body, each operation depends on the previous one.
  template <class Body>
  void in_order(Body&& body) {
    const bool outer = std::exchange(in_order_, true);
    if (!outer) previous_ = -1;
    body();
    in_order_ = outer;
  }

  // Calls body(Segment) once for a loop over the full segments of `length` units and once for the rest, so that the
  // size of a schedule does not depend on the length. At most `window` segments are in flight. Inside another segment
  // loop the data is not divided again.
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

  // The same for a whole block whose length is known only at binding time; the last chunk may be shorter. Returns what
  // is complete when all chunks are, and all that they depend on, even if there are none.
  template <class Body>
  Added for_each_chunk(const Region& block, std::int64_t chunk, std::int32_t window, Body&& body) {
    begin_chunk_loop(block, chunk, window);
    body(Segment{.length = chunk, .stride = chunk, .clipped = true});
    return end_loop();
  }

  // Calls body for what is done once, but not if that block turns out to be empty.
  template <class Body>
  Added unless_empty(const Region& block, Body&& body) {
    begin_chunk_loop(block, 1, 1, 1);
    body();
    return end_loop();
  }

  // Inside body, peers are ranks of `group` (itself given in ranks of the enclosing group), of which this rank must be
  // a member, and channels are offset by `channel`, so that messages of different parts cannot match.
  template <class Body>
  void within(const Group& group, std::int32_t channel, Body&& body) {
    groups_.push_back(group);
    channel_ += channel;
    body();
    channel_ -= channel;
    groups_.pop_back();
  }

  // The channel of subsequent messages.
  void use_channel(std::int32_t channel) { own_channel_ = channel; }

  // This rank in the innermost group.
  Rank rank() const;
  Rank ranks() const;

  // Returns the schedule; the builder must not be used any more. `channels` is the maximum on any rank.
  Schedule finish(std::int32_t channels = 1);

 private:
  // Messages to or from a peer on one channel match in posting order, and a counter must not decrease: both are posted
  // in program order. These are the ends of such a stream.
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
  Added offload(const Group& among, std::span<const Region> data);
  Added add_counting(Kind kind, Rank peer, std::int32_t counter, std::int64_t value, std::int64_t value_stride,
                     std::span<const Region> data = {});
  Added add(Operation operation, std::span<const Region> data);
  void begin_loop(std::int64_t iterations, std::int32_t window);
  void begin_chunk_loop(const Region& block, std::int64_t chunk, std::int32_t window, std::int64_t most = 0);
  Added end_loop();
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
  std::vector<Edge> edges_;        // grouped by operation in finish
  std::size_t edges_at_loop_ = 0;  // their number at the start of the open loop
  Index<3> stream_numbers_;        // by kind, peer and channel or counter
  std::vector<StreamEnds> streams_;
  std::vector<std::size_t> loop_streams_;  // streams with an operation in the open loop
  std::vector<Put> unflushed_;
  std::vector<Group> groups_;
  std::int32_t channel_ = 0;
  std::int32_t own_channel_ = 0;
  std::int32_t loop_ = -1;
  std::int32_t fence_ = -1;
  bool in_order_ = false;
  bool loop_in_order_ = false;  // the open loop is inside in_order: its iterations are sequential
  std::int32_t previous_ = -1;
};

}  // namespace quadrille
