#include "schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "schedule/memory.hpp"

namespace quadrille {

namespace {

constexpr std::array<std::string_view, kinds> kind_names = {"send",  "receive", "copy",    "reduce",  "publish",
                                                            "wait",  "put",     "flush",   "get",     "notify",
                                                            "await", "deposit", "collect", "offload", "join"};
constexpr std::array<std::string_view, buffers> buffer_names = {"input", "output", "scratch", "slot", "box", "staging"};

// The number of regions of an operation; -1: any.
int operands(Kind kind) {
  switch (kind) {
    case Kind::send:
    case Kind::receive:
    case Kind::offload:
      return -1;
    case Kind::copy:
    case Kind::put:
    case Kind::get:
    case Kind::deposit:
    case Kind::collect:
      return 2;
    case Kind::reduce:
      return 3;
    default:
      return 0;
  }
}

bool has_peer(Kind kind) {
  return kind == Kind::send || kind == Kind::receive || kind == Kind::wait || kind == Kind::put ||
         kind == Kind::flush || kind == Kind::get || kind == Kind::notify || kind == Kind::deposit;
}

// The memory of another rank that an operation accesses through its window: which operand, and where it must be.
struct Remote {
  std::size_t operand;
  Buffer buffer;
};
std::optional<Remote> remote(Kind kind) {
  switch (kind) {
    case Kind::put:
      return Remote{1, Buffer::output};
    case Kind::get:
      return Remote{0, Buffer::output};
    case Kind::deposit:
      return Remote{1, Buffer::box};
    default:
      return std::nullopt;
  }
}

class Check {
 public:
  explicit Check(const Schedule& schedule) : schedule_(schedule) {}

  std::string run() {
    for (std::size_t i = 0; i < schedule_.loops.size(); ++i) {
      if (auto why = loop_fault(schedule_.loops[i], static_cast<std::int32_t>(i)); !why.empty()) return why;
    }
    for (std::size_t i = 0; i < schedule_.operations.size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      if (auto why = operation_fault(id); !why.empty()) return fmt::format("operation {}: {}", id, why);
    }
    return {};
  }

 private:
  std::string loop_fault(const Loop& loop, std::int32_t number) const {
    const auto count = static_cast<std::int32_t>(schedule_.operations.size());
    if (loop.first < 0 || loop.first >= loop.last || loop.last > count) return "a loop outside the schedule";
    if (loop.window < 1 || loop.window > max_loop_window) return "a loop's window is not from 1 to 64";
    const bool none = loop.chunk == 0 && loop.iterations < 1;
    if (loop.chunk < 0 || loop.iterations < 0 || none) return "a loop without iterations";
    for (std::int32_t id = loop.first; id < loop.last; ++id) {
      if (schedule_.operations[static_cast<std::size_t>(id)].loop != number)
        return "a loop with operations of another loop";
    }
    const bool whole_block = loop.over.offset == 0 && loop.over.length == whole && loop.over.stride == 0;
    return loop.chunk > 0 && !whole_block ? "a chunk loop over part of a block" : "";
  }

  std::string operation_fault(std::int32_t id) const {
    const Operation& operation = schedule_.operations[static_cast<std::size_t>(id)];
    const int wanted = operands(operation.kind);
    if (wanted >= 0 && operation.regions != wanted)
      return fmt::format("{} takes {} regions", name(operation.kind), wanted);
    if (operation.kind == Kind::offload) {
      if (auto why = offload_fault(operation); !why.empty()) return why;
    }
    if (!has_peer(operation.kind) && operation.peer != self) return "a peer of a local operation";
    if (has_peer(operation.kind) && (operation.peer < 0 || operation.peer >= schedule_.ranks)) return "no such peer";
    if (has_peer(operation.kind) && operation.kind != Kind::wait && operation.peer == schedule_.rank)
      return "a message to itself";
    if (operation.channel < 0 || operation.channel >= schedule_.channels) return "a channel outside the declared ones";
    if (auto why = member_fault(id, operation); !why.empty()) return why;
    if (auto why = counter_fault(operation); !why.empty()) return why;
    for (const Region& region : schedule_.regions_of(operation)) {
      if (auto why = region_fault(operation, region); !why.empty()) return why;
    }
    if (auto why = overlap_fault(operation); !why.empty()) return why;
    for (const Dependency& dependency : schedule_.dependencies_of(operation)) {
      if (auto why = dependency_fault(id, operation, dependency); !why.empty()) return why;
    }
    return {};
  }

  std::string offload_fault(const Operation& operation) const {
    if (operation.regions > 1) return "offload takes at most one region";
    const std::vector<Rank>& group = schedule_.offload;
    const bool ascending = std::adjacent_find(group.begin(), group.end(), std::greater_equal<>()) == group.end();
    const bool inside = !group.empty() && group.front() >= 0 && group.back() < schedule_.ranks;
    const bool member = std::find(group.begin(), group.end(), schedule_.rank) != group.end();
    return ascending && inside && member ? "" : "offload among other ranks than declared";
  }

  // Iterations of an operation; 1 if known only at binding time.
  std::int64_t iterations(const Operation& operation) const {
    if (operation.loop < 0) return 1;
    const Loop& loop = schedule_.loops[static_cast<std::size_t>(operation.loop)];
    return loop.chunk == 0 ? loop.iterations : 1;
  }

  std::string counter_fault(const Operation& operation) const {
    const bool sets = counts(operation.kind);
    if (!sets && !awaits(operation.kind)) return {};
    const Board on = board(operation.kind);
    if (operation.counter < 0 || operation.counter >= declared(on)) return "a counter outside the declared ones";
    if (on == Board::box && operation.counter != schedule_.regions_of(operation)[sets ? 1 : 0].block)
      return "a deposit that tells of another box";
    if (on == Board::box && operation.loop >= 0) return "a deposit in a loop";
    if (on == Board::notice && schedule_.tells_of_staging(operation.counter) && operation.loop >= 0)
      return "staging in a loop";
    const std::int64_t last = operation.value + operation.value_stride * (iterations(operation) - 1);
    if (std::max(operation.value, last) > schedule_.span(on)) return "a counter beyond its increment per run";
    if (sets && std::min(operation.value, last) < 1) return "a counter set to its initial value or less";
    return {};
  }

  std::int32_t declared(Board on) const {
    if (on == Board::box) return static_cast<std::int32_t>(schedule_.boxes.size());
    if (on == Board::counter) return schedule_.counters;
    return schedule_.notices + 2 * static_cast<std::int32_t>(schedule_.staging.size());
  }

  std::string member_fault(std::int32_t id, const Operation& operation) const {
    if (operation.loop < 0) {
      if (operation.value_stride != 0) return "a value stride outside a loop";
      return {};
    }
    if (operation.loop >= static_cast<std::int32_t>(schedule_.loops.size())) return "no such loop";
    const Loop& loop = schedule_.loops[static_cast<std::size_t>(operation.loop)];
    return id < loop.first || id >= loop.last ? "outside its loop" : "";
  }

  std::string region_fault(const Operation& operation, const Region& region) const {
    if (auto why = owner_fault(operation, region); !why.empty()) return why;
    if (region.block < 0 || region.offset < 0 || region.length < whole) return "a region before the start of its block";
    if (auto why = block_fault(operation, region); !why.empty()) return why;
    if (operation.loop < 0 && region.stride != 0) return "a region with a stride outside a loop";
    if (region.stride < 0) return "a region with a negative stride";
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
    if (region.offset > most || region.length > most ||
        region.stride > most / std::max<std::int64_t>(iterations(operation), 1))
      return "a region with an overflowing offset";
    const bool chunked = operation.loop >= 0 && schedule_.loops[static_cast<std::size_t>(operation.loop)].chunk > 0;
    if (region.clipped && !chunked) return "a clipped region outside a chunk loop";
    return {};
  }

  // Another rank's memory is accessed in shared memory, or through a window by what is made for that.
  std::string owner_fault(const Operation& operation, const Region& region) const {
    const auto operand = static_cast<std::size_t>(&region - schedule_.regions_of(operation).data());
    const std::optional<Remote> through = remote(operation.kind);
    if (through && through->operand == operand) {
      const bool staged = operation.kind == Kind::put && region.buffer == Buffer::staging;
      const bool there = region.buffer == through->buffer || staged;
      const bool right = there && region.owner == operation.peer && schedule_.one_sided();
      const std::string_view what = through->buffer == Buffer::box ? "a box" : "an output";
      return right ? "" : fmt::format("{} needs {} of the peer's", name(operation.kind), what);
    }
    const bool copied_out = operation.kind == Kind::copy && operand == 0 && region.owner == self;
    if (region.buffer == Buffer::staging && !copied_out) return "staging is for put, and for copies out of one's own";
    const bool collected = operation.kind == Kind::collect && operand == 0;
    if (collected != (region.buffer == Buffer::box)) return "a box is for deposit and collect alone";
    if (region.owner == self) return {};
    if (region.buffer != Buffer::slot) return "an access to another rank's memory other than a slot";
    return region.owner < 0 || region.owner >= schedule_.ranks ? "a slot of no rank" : "";
  }

  const std::vector<std::int64_t>& declared_blocks(Buffer buffer) const {
    if (buffer == Buffer::scratch) return schedule_.scratch;
    if (buffer == Buffer::staging) return schedule_.staging;
    return buffer == Buffer::slot ? schedule_.slots : schedule_.boxes;
  }

  // The sizes of scratch, slots, boxes and staging are declared in the schedule.
  std::string block_fault(const Operation& operation, const Region& region) const {
    if (region.buffer == Buffer::input || region.buffer == Buffer::output) return {};
    const auto& blocks = declared_blocks(region.buffer);
    if (static_cast<std::size_t>(region.block) >= blocks.size()) return "an undeclared block";
    const std::int64_t units = blocks[static_cast<std::size_t>(region.block)];
    if (region.buffer == Buffer::staging) return staging_fault(region, units);
    const bool counted = operation.loop < 0 || schedule_.loops[static_cast<std::size_t>(operation.loop)].chunk == 0;
    const std::int64_t turns = counted ? iterations(operation) : std::max<std::int64_t>(region.cycle, 1);
    const std::int64_t rounds = region.cycle > 0 ? std::min<std::int64_t>(region.cycle, turns) : iterations(operation);
    const std::int64_t last = std::max(region.offset_at(0), region.offset_at(rounds - 1));
    const std::int64_t end = last + std::max<std::int64_t>(region.length, 0);
    return end > units ? "a region outside its block" : "";
  }

  // Of schedules in a row each may use another place.
  std::string staging_fault(const Region& region, std::int64_t units) const {
    if (region.length == whole || region.stride != 0) return "a region of unknown length in staging";
    const bool inside =
        region.offset < staging_places * units && (units == 0 || region.offset % units + region.length <= units);
    return inside ? "" : "a region outside its place in staging";
  }

  // The written operand must be disjoint from all others, except for a reduction onto its right operand.
  std::string overlap_fault(const Operation& operation) const {
    const auto regions = schedule_.regions_of(operation);
    for (std::size_t i = 0; i < regions.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool written = writes(operation.kind, static_cast<int>(i)) || writes(operation.kind, static_cast<int>(j));
        const bool onto_right = operation.kind == Kind::reduce && i == 2 && j == 1 && regions[i] == regions[j];
        if (!written || onto_right || !regions[i].same_block(regions[j])) continue;
        if (overlap(range_at(regions[i], 0), range_at(regions[j], 0))) return "overlapping operands";
      }
    }
    const bool equal = operands(operation.kind) > 0;
    for (std::size_t i = 1; equal && i < regions.size(); ++i) {
      const bool both_known = regions[i].length != whole && regions[0].length != whole;
      if (both_known && regions[i].length != regions[0].length) return "operands of unequal length";
    }
    return {};
  }

  std::string dependency_fault(std::int32_t id, const Operation& operation, const Dependency& dependency) const {
    if (dependency.operation < 0 || dependency.operation >= static_cast<std::int32_t>(schedule_.operations.size())) {
      return "a dependency on a nonexistent operation";
    }
    const Operation& earlier = schedule_.operations[static_cast<std::size_t>(dependency.operation)];
    const bool carried = operation.loop >= 0 && earlier.loop == operation.loop;
    if (!carried && dependency.distance != 0) return "a dependency with a distance across loops";
    if (dependency.distance < 0) return "a dependency on a later iteration";
    if (dependency.operation >= id && !(carried && dependency.distance > 0)) return "a dependency on a later operation";
    return {};
  }

  const Schedule& schedule_;
};

}  // namespace

std::string_view name(Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::string_view name(Buffer buffer) {
  return buffer_names[static_cast<std::size_t>(buffer)];
}

bool writes(Kind kind, int region) {
  switch (kind) {
    case Kind::receive:
    case Kind::offload:
      return true;
    case Kind::copy:
    case Kind::put:
    case Kind::get:
    case Kind::deposit:
    case Kind::collect:
      return region == 1;
    case Kind::reduce:
      return region == 2;
    default:
      return false;
  }
}

std::int64_t Schedule::bytes() const {
  return static_cast<std::int64_t>(sizeof(Schedule)) + allocated(scratch) + allocated(slots) + allocated(boxes) +
         allocated(staging) + allocated(operations) + allocated(regions) + allocated(dependencies) + allocated(loops) +
         allocated(offload);
}

bool Schedule::only_notifies() const {
  return one_sided() && std::all_of(operations.begin(), operations.end(), [](const Operation& operation) {
           return operation.kind == Kind::notify || operation.kind == Kind::await || operation.kind == Kind::join;
         });
}

std::int64_t Schedule::scratch_units() const {
  return std::accumulate(scratch.begin(), scratch.end(), std::int64_t{0});
}

std::string malformed(const Schedule& schedule) {
  return Check(schedule).run();
}

std::string beyond_shared_memory(const Schedule& schedule, const std::function<bool(Rank)>& shares_memory) {
  const auto beyond = [&](Rank rank) { return rank != self && rank != schedule.rank && !shares_memory(rank); };
  for (std::size_t i = 0; i < schedule.operations.size(); ++i) {
    const Operation& operation = schedule.operations[i];
    const auto regions = schedule.regions_of(operation);
    Rank owner = operation.kind == Kind::wait ? operation.peer : self;
    for (std::size_t r = 0; r < regions.size() && !beyond(owner); ++r) {
      if (regions[r].buffer == Buffer::slot) owner = regions[r].owner;
    }
    if (!beyond(owner)) continue;
    return fmt::format("operation {}: memory of rank {}, which is on another node", i, owner);
  }
  return {};
}

}  // namespace quadrille
