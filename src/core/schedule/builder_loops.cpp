// The builder's loops: what an iteration waits for of those before it, and what comes after a loop.

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "schedule/builder.hpp"

namespace quadrille {

namespace {

// Whether region `a` in iteration k - distance and region `b` in iteration k can share a unit, for any k.
bool overlap_at_distance(const Region& a, const Region& b, std::int64_t distance, const Range& a_all,
                         const Range& b_all) {
  if (a.stride != b.stride || a.cycle != b.cycle) return overlap(a_all, b_all);
  if (a.cycle == 0) {
    Range earlier = range_at(a, 0);
    const std::int64_t shift = a.stride * distance;
    if (a.length == whole) return overlap(a_all, b_all);
    earlier.begin -= shift;
    earlier.end -= shift;
    return overlap(earlier, range_at(b, 0));
  }
  for (std::int64_t k = distance; k < distance + a.cycle; ++k) {
    if (overlap(range_at(a, k - distance), range_at(b, k))) return true;
  }
  return false;
}

}  // namespace

// The range of a region over all iterations of the open loop.
Range Builder::loop_range(const Region& region) const {
  Range range = range_at(region, 0);
  if (loop_ < 0 || region.stride == 0) return range;
  const Loop& loop = schedule_.loops.back();
  const bool unknown = loop.chunk > 0 && region.cycle == 0;
  if (unknown || region.length == whole) return {range.begin, std::numeric_limits<std::int64_t>::max()};
  const std::int64_t rounds = loop.chunk > 0 ? region.cycle : loop.iterations;
  const std::int64_t last = region.cycle > 0 ? std::min<std::int64_t>(region.cycle, rounds) - 1 : rounds - 1;
  return {range.begin, range.end + region.stride * last};
}

void Builder::begin_loop(std::int64_t iterations, std::int32_t window) {
  if (loop_ >= 0) throw std::logic_error("Builder: segment loops can't be nested");
  if (window < 1 || window > max_loop_window) throw std::invalid_argument("a loop's window must be from 1 to 64");
  const auto first = static_cast<std::int32_t>(schedule_.operations.size());
  loop_ = static_cast<std::int32_t>(schedule_.loops.size());
  loop_in_order_ = in_order_;
  edges_at_loop_ = edges_.size();
  schedule_.loops.push_back({.first = first, .last = first, .window = window, .iterations = iterations});
}

void Builder::begin_chunk_loop(const Region& block, std::int64_t chunk, std::int32_t window, std::int64_t most) {
  const bool all_of_it = block.offset == 0 && block.length == whole;
  if (!all_of_it || chunk < 1)
    throw std::invalid_argument("for_each_chunk: expected a whole block and chunks of at least one unit");
  begin_loop(most, window);
  Loop& loop = schedule_.loops.back();
  loop.over = block;
  loop.chunk = chunk;
}

Added Builder::end_loop() {
  Loop& loop = schedule_.loops.back();
  loop.last = static_cast<std::int32_t>(schedule_.operations.size());
  for (std::int32_t later = loop.first; later < loop.last; ++later) {
    for (std::int32_t earlier = loop.first; earlier < loop.last; ++earlier) carry_data(earlier, later, loop);
  }
  const std::int32_t loop_first = loop.first;
  if (loop_in_order_ && loop.first < loop.last) depend(loop.first, {loop.last - 1, 1, false});
  const std::vector<std::size_t> streams = std::exchange(loop_streams_, {});
  for (std::size_t number : streams) {
    StreamEnds& stream = streams_[number];
    if (stream.first_in_loop != stream.last) depend(stream.first_in_loop, {stream.last, 1, true});
    stream.first_in_loop = -1;
  }
  const std::vector<Region> written = written_in(loop);
  std::vector<Range> ranges;
  for (const Region& region : written) ranges.push_back(loop_range(region));
  loop_ = -1;
  if (loop.first == loop.last) {
    schedule_.loops.pop_back();
    return {};
  }
  // The loop writes its data after all earlier accesses, so later ones need only depend on the loop. A chunk loop may
  // be empty, and nothing could depend on it: a join after it takes its place.
  const std::int32_t join = loop.chunk > 0 ? join_behind(loop) : -1;
  if (join >= 0 && fence_ >= loop_first) fence_ = join;
  for (std::size_t i = 0; i < written.size(); ++i) {
    hazards_.forget_before(written[i], ranges[i], join < 0 ? loop.first : join);
    if (join >= 0) hazards_.access(written[i], ranges[i], true, join, false, [](std::int32_t) {});
  }
  for (std::size_t number : streams) streams_[number].last = join < 0 ? streams_[number].last : join;
  return {join};
}

std::vector<Region> Builder::written_in(const Loop& loop) const {
  std::vector<Region> written;
  for (std::int32_t id = loop.first; id < loop.last; ++id) {
    const Operation& operation = schedule_.operations[static_cast<std::size_t>(id)];
    const auto regions = schedule_.regions_of(operation);
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (writes(operation.kind, static_cast<int>(i))) written.push_back(regions[i]);
    }
  }
  return written;
}

// Depends on the loop and on all that the loop depends on.
std::int32_t Builder::join_behind(const Loop& loop) {
  const std::int32_t first = loop.first;
  const std::int32_t last = loop.last;
  const std::size_t edges = edges_.size();
  const std::int32_t join = add(Operation{}, {}).operation;
  for (std::int32_t id = first; id < last; ++id) depend(join, {id, 0, false});
  for (std::size_t i = edges_at_loop_; i < edges; ++i) {
    if (edges_[i].of >= first && edges_[i].on.operation < first) depend(join, edges_[i].on);
  }
  return join;
}

// Dependencies of `later` on `earlier` in the same iteration and in earlier ones. Iterations farther apart than the
// window are ordered by it.
void Builder::carry_data(std::int32_t earlier, std::int32_t later, const Loop& loop) {
  const Operation& a = schedule_.operations[static_cast<std::size_t>(earlier)];
  const Operation& b = schedule_.operations[static_cast<std::size_t>(later)];
  for (std::int32_t distance = earlier < later ? 0 : 1; distance < loop.window; ++distance) {
    bool conflict = false;
    for (int i = 0; i < a.regions && !conflict; ++i) {
      for (int j = 0; j < b.regions && !conflict; ++j) {
        const Region& of_a = schedule_.regions_of(a)[static_cast<std::size_t>(i)];
        const Region& of_b = schedule_.regions_of(b)[static_cast<std::size_t>(j)];
        if (!of_a.same_block(of_b) || (!writes(a.kind, i) && !writes(b.kind, j))) continue;
        conflict = overlap_at_distance(of_a, of_b, distance, loop_range(of_a), loop_range(of_b));
      }
    }
    const std::int32_t completion = completion_in_loop(earlier, loop);
    if (conflict && (distance > 0 || completion < later)) depend(later, {completion, distance, false});
  }
}

// A put completes with its flush.
std::int32_t Builder::completion_in_loop(std::int32_t operation, const Loop& loop) const {
  const Operation& put = schedule_.operations[static_cast<std::size_t>(operation)];
  if (put.kind != Kind::put) return operation;
  for (std::int32_t i = operation + 1; i < loop.last; ++i) {
    const Operation& flush = schedule_.operations[static_cast<std::size_t>(i)];
    if (flush.kind == Kind::flush && flush.peer == put.peer) return i;
  }
  throw std::logic_error("Builder: a put inside a loop needs its flush inside the loop");
}

}  // namespace quadrille
