#include "schedule/builder.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>

namespace quadrille {

Builder::Builder(Rank rank, Rank ranks, Unit unit) {
  schedule_.rank = rank;
  schedule_.ranks = ranks;
  schedule_.unit = unit;
  schedule_.operations.reserve(16);
  schedule_.regions.reserve(16);
  edges_.reserve(16);
}

Rank Builder::rank() const {
  Rank rank = schedule_.rank;
  for (const Group& group : groups_) {
    const auto index = group.index_of(rank);
    if (!index) throw std::logic_error("Builder::within: this rank is not a member of the group");
    rank = *index;
  }
  return rank;
}

Rank Builder::ranks() const {
  return groups_.empty() ? schedule_.ranks : groups_.back().size();
}

Rank Builder::outward(Rank peer) const {
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) peer = (*group)[peer];
  return peer;
}

Added Builder::message(Kind kind, Rank peer, std::span<const Region> data) {
  const bool empty =
      !data.empty() && std::all_of(data.begin(), data.end(), [](const Region& r) { return r.length == 0; });
  if (empty) return {};
  Operation operation;
  operation.kind = kind;
  operation.peer = outward(peer);
  operation.channel = channel_ + own_channel_;
  return add(operation, data);
}

Added Builder::copy(const Region& source, const Region& target) {
  if (source.length == 0 || source == target) return {};
  Operation operation;
  operation.kind = Kind::copy;
  return add(operation, std::array{source, target});
}

Added Builder::reduce(const Region& left, const Region& right, const Region& target) {
  if (target.length == 0) return {};
  Operation operation;
  operation.kind = Kind::reduce;
  return add(operation, std::array{left, right, target});
}

Added Builder::add_counting(Kind kind, Rank peer, std::int32_t counter, std::int64_t value, std::int64_t value_stride,
                            std::span<const Region> data) {
  Operation operation;
  operation.kind = kind;
  operation.peer = peer;
  operation.counter = counter;
  operation.value = value;
  operation.value_stride = value_stride;
  return add(operation, data);
}

Added Builder::publish(std::int32_t counter, std::int64_t value, std::int64_t value_stride) {
  return add_counting(Kind::publish, self, counter, value, value_stride);
}

Added Builder::wait(Rank owner, std::int32_t counter, std::int64_t value, std::int64_t value_stride) {
  return add_counting(Kind::wait, outward(owner), counter, value, value_stride);
}

Added Builder::notify(Rank to, std::int32_t notice, std::int64_t value, std::int64_t value_stride) {
  return add_counting(Kind::notify, outward(to), notice, value, value_stride);
}

Added Builder::await(std::int32_t notice, std::int64_t value, std::int64_t value_stride) {
  return add_counting(Kind::await, self, notice, value, value_stride);
}

Added Builder::deposit(Rank to, const Region& source, const Region& box) {
  if (source.length == 0) return {};
  return add_counting(Kind::deposit, outward(to), box.block, 1, 0, std::array{source, at(to, box)});
}

Added Builder::collect(const Region& box, const Region& target) {
  if (target.length == 0) return {};
  return add_counting(Kind::collect, self, box.block, 1, 0, std::array{box, target});
}

Added Builder::put(Rank to, const Region& source, const Region& target) {
  if (source.length == 0) return {};
  Operation operation;
  operation.kind = Kind::put;
  operation.peer = outward(to);
  const Added step = add(operation, std::array{source, target});
  const auto named = schedule_.regions_of(schedule_.operations.back());
  unflushed_.push_back({step.operation, operation.peer, named[0], named[1]});
  return step;
}

Added Builder::flush(Rank to) {
  Operation operation;
  operation.kind = Kind::flush;
  operation.peer = outward(to);
  const Added step = add(operation, {});
  // Until its flush a put still reads its source and writes its target: later accesses depend on the flush.
  std::erase_if(unflushed_, [&](const Put& put) {
    if (put.peer != operation.peer) return false;
    depend(step.operation, {put.operation, 0, false});
    depend_by_data(step.operation, put.source, false);
    depend_by_data(step.operation, put.target, true);
    return true;
  });
  return step;
}

Added Builder::get(Rank from, const Region& source, const Region& target) {
  if (target.length == 0) return {};
  Operation operation;
  operation.kind = Kind::get;
  operation.peer = outward(from);
  return add(operation, std::array{source, target});
}

Added Builder::offload(const Group& among, std::span<const Region> data) {
  if (among.size() == 1 || (!data.empty() && data.front().length == 0)) return {};
  std::vector<Rank> ranks;
  for (Rank i = 0; i < among.size(); ++i) ranks.push_back(outward(among[i]));
  std::sort(ranks.begin(), ranks.end());
  if (!schedule_.offload.empty() && schedule_.offload != ranks) {
    throw std::logic_error("Builder: collectives of the MPI's own can't run among two groups");
  }
  schedule_.offload = std::move(ranks);
  Operation operation;
  operation.kind = Kind::offload;
  return add(operation, data);
}

Region Builder::scratch(std::int64_t units) {
  if (units == 0) return Region{.buffer = Buffer::scratch, .length = 0};
  schedule_.scratch.push_back(units);
  return Region{
      .buffer = Buffer::scratch, .block = static_cast<std::int32_t>(schedule_.scratch.size()) - 1, .length = units};
}

Region Builder::slot(std::int64_t units) {
  schedule_.slots.push_back(units);
  return Region{
      .buffer = Buffer::slot, .block = static_cast<std::int32_t>(schedule_.slots.size()) - 1, .length = units};
}

Region Builder::slot_of(Rank owner, std::int32_t block, std::int64_t units) const {
  return Region{.buffer = Buffer::slot, .owner = outward(owner), .block = block, .length = units};
}

void Builder::counters(std::int32_t count, std::int64_t span) {
  schedule_.counters = count;
  schedule_.counter_span = span;
}

std::int32_t Builder::counter(std::int64_t most) {
  schedule_.counter_span = std::max(schedule_.counter_span, most);
  return schedule_.counters++;
}

void Builder::notices(std::int32_t count, std::int64_t span) {
  schedule_.notices = count;
  schedule_.notice_span = span;
}

Region Builder::box(std::int64_t units) {
  schedule_.boxes.push_back(units);
  return Region{.buffer = Buffer::box, .block = static_cast<std::int32_t>(schedule_.boxes.size()) - 1, .length = units};
}

void Builder::staging(std::int32_t blocks, std::int64_t units) {
  schedule_.staging.assign(static_cast<std::size_t>(blocks), units);
}

void Builder::after(Added step, std::initializer_list<Added> earlier) {
  if (step.operation < 0) return;
  for (const Added& one : earlier) {
    if (one.operation >= 0) depend(step.operation, {one.operation, 0, false});
  }
}

void Builder::fence() {
  const auto count = static_cast<std::int32_t>(schedule_.operations.size());
  const std::int32_t first = fence_ + 1;
  if (first == count) return;
  const Added join = add(Operation{}, {});
  for (std::int32_t operation = first; operation < count; ++operation) depend(join.operation, {operation, 0, false});
  fence_ = join.operation;
}

Added Builder::add(Operation operation, std::span<const Region> data) {
  const auto id = static_cast<std::int32_t>(schedule_.operations.size());
  operation.loop = loop_;
  operation.first_region = static_cast<std::int32_t>(schedule_.regions.size());
  operation.regions = static_cast<std::int32_t>(data.size());
  for (Region region : data) {
    if (region.owner == schedule_.rank) region.owner = self;
    schedule_.regions.push_back(region);
  }
  schedule_.operations.push_back(operation);
  if (fence_ >= 0) depend(id, {fence_, 0, false});
  for (int i = 0; i < operation.regions; ++i) {
    depend_by_data(id, schedule_.regions_of(operation)[static_cast<std::size_t>(i)], writes(operation.kind, i));
  }
  if (is_message(operation.kind) || operation.kind == Kind::offload) depend_by_stream(id, operation.channel);
  if (counts(operation.kind)) depend_by_stream(id, operation.counter);
  if (in_order_) {
    if (previous_ >= 0) depend(id, {previous_, 0, false});
    previous_ = id;
  }
  return {id};
}

void Builder::depend(std::int32_t operation, Dependency dependency) {
  edges_.push_back({operation, dependency});
}

void Builder::depend_by_data(std::int32_t operation, const Region& region, bool write) {
  const std::int32_t loop_first = loop_ < 0 ? operation : schedule_.loops.back().first;
  hazards_.access(region, loop_range(region), write, operation, loop_ >= 0, [&](std::int32_t earlier) {
    if (earlier < loop_first && earlier > fence_) depend(operation, {earlier, 0, false});
  });
}

void Builder::depend_by_stream(std::int32_t operation, std::int32_t channel_or_counter) {
  const Operation& of = schedule_.operations[static_cast<std::size_t>(operation)];
  const auto number =
      static_cast<std::size_t>(stream_numbers_.add({static_cast<std::int64_t>(of.kind), of.peer, channel_or_counter}));
  if (number == streams_.size()) streams_.emplace_back();
  StreamEnds& stream = streams_[number];
  if (stream.last > fence_) depend(operation, {stream.last, 0, true});
  stream.last = operation;
  if (loop_ < 0 || stream.first_in_loop >= 0) return;
  stream.first_in_loop = operation;
  loop_streams_.push_back(number);
}

void Builder::lay_out_dependencies() {
  auto& operations = schedule_.operations;
  auto& all = schedule_.dependencies;
  for (const Edge& edge : edges_) ++operations[static_cast<std::size_t>(edge.of)].dependencies;
  std::int32_t first = 0;
  for (Operation& operation : operations) {
    operation.first_dependency = first;
    first += std::exchange(operation.dependencies, 0);
  }
  all.resize(edges_.size());
  for (const Edge& edge : edges_) {
    Operation& of = operations[static_cast<std::size_t>(edge.of)];
    const std::int32_t place = of.first_dependency + of.dependencies++;
    all[static_cast<std::size_t>(place)] = edge.on;
  }
  // Without duplicates: of two dependencies on one operation, the one on completion is sorted first and is the
  // stronger.
  std::size_t kept = 0;
  for (Operation& operation : operations) {
    const std::span<Dependency> list(all.data() + operation.first_dependency,
                                     static_cast<std::size_t>(operation.dependencies));
    std::sort(list.begin(), list.end(), [](const Dependency& a, const Dependency& b) {
      return std::tie(a.operation, a.distance, a.posted) < std::tie(b.operation, b.distance, b.posted);
    });
    const std::size_t place = kept;
    for (const Dependency& one : list) {
      const bool again =
          kept > place && all[kept - 1].operation == one.operation && all[kept - 1].distance == one.distance;
      if (!again) all[kept++] = one;
    }
    operation.first_dependency = static_cast<std::int32_t>(place);
    operation.dependencies = static_cast<std::int32_t>(kept - place);
  }
  all.resize(kept);
}

Schedule Builder::finish(std::int32_t channels) {
  schedule_.channels = channels;
  lay_out_dependencies();
  schedule_.operations.shrink_to_fit();
  schedule_.regions.shrink_to_fit();
  schedule_.dependencies.shrink_to_fit();
  return std::move(schedule_);
}

}  // namespace quadrille
