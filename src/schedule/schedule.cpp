#include "schedule/schedule.hpp"

#include <fmt/format.h>

#include <array>
#include <numeric>

namespace quadrille {

namespace {

constexpr std::array<std::string_view, 11> kind_names = {"send", "receive", "copy",   "reduce", "publish", "wait",
                                                         "put",  "flush",   "notify", "await",  "join"};
constexpr std::array<std::string_view, 4> buffer_names = {"input", "output", "scratch", "slot"};

// Regions an operation takes; -1: any number.
int operands(Kind kind) {
  switch (kind) {
    case Kind::send:
    case Kind::receive:
      return -1;
    case Kind::copy:
    case Kind::put:
      return 2;
    case Kind::reduce:
      return 3;
    default:
      return 0;
  }
}

bool has_peer(Kind kind) {
  return kind == Kind::send || kind == Kind::receive || kind == Kind::wait || kind == Kind::put ||
         kind == Kind::flush || kind == Kind::notify;
}

class Check {
 public:
  explicit Check(const Schedule& schedule) : schedule_(schedule) {}

  std::string run() {
    for (const Loop& loop : schedule_.loops) {
      if (auto why = loop_fault(loop); !why.empty()) return why;
    }
    for (std::size_t i = 0; i < schedule_.operations.size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      if (auto why = operation_fault(id); !why.empty()) return fmt::format("operation {}: {}", id, why);
    }
    return {};
  }

 private:
  std::string loop_fault(const Loop& loop) const {
    const auto count = static_cast<std::int32_t>(schedule_.operations.size());
    if (loop.first < 0 || loop.first >= loop.last || loop.last > count) return "a loop outside the schedule";
    if (loop.window < 1 || loop.window > max_loop_window) return "a loop's window is not from 1 to 64";
    if (loop.chunk < 0 || (loop.chunk == 0 && loop.iterations < 1)) return "a loop of no iterations";
    return {};
  }

  std::string operation_fault(std::int32_t id) const {
    const Operation& operation = schedule_.operations[static_cast<std::size_t>(id)];
    const int wanted = operands(operation.kind);
    if (wanted >= 0 && operation.regions != wanted)
      return fmt::format("{} takes {} regions", name(operation.kind), wanted);
    if (has_peer(operation.kind) && (operation.peer < 0 || operation.peer >= schedule_.ranks)) return "no such peer";
    if (has_peer(operation.kind) && operation.kind != Kind::wait && operation.peer == schedule_.rank)
      return "a message to itself";
    if (operation.channel < 0 || operation.channel >= schedule_.channels) return "a channel outside the declared ones";
    if (auto why = member_fault(id, operation); !why.empty()) return why;
    for (const Region& region : schedule_.regions_of(operation)) {
      if (auto why = region_fault(operation, region); !why.empty()) return why;
    }
    for (const Dependency& dependency : schedule_.dependencies_of(operation)) {
      if (auto why = dependency_fault(id, operation, dependency); !why.empty()) return why;
    }
    return operation.kind == Kind::reduce ? reduce_fault(operation) : "";
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
    if (region.owner != self && region.buffer != Buffer::slot) return "only slots of other ranks can be reached";
    if (region.owner != self && (region.owner < 0 || region.owner >= schedule_.ranks)) return "a slot of no rank";
    if (operation.kind == Kind::put && &region == &schedule_.regions_of(operation)[1] &&
        region.owner != operation.peer) {
      return "a put into a slot that is not the peer's";
    }
    if (region.block < 0 || region.offset < 0 || region.length < whole) return "a region before its block";
    if (operation.loop < 0 && region.stride != 0) return "a moving region outside a loop";
    const bool chunked = operation.loop >= 0 && schedule_.loops[static_cast<std::size_t>(operation.loop)].chunk > 0;
    if (region.clipped && !chunked) return "a clipped region outside a chunk loop";
    return {};
  }

  std::string dependency_fault(std::int32_t id, const Operation& operation, const Dependency& dependency) const {
    if (dependency.operation < 0 || dependency.operation >= static_cast<std::int32_t>(schedule_.operations.size())) {
      return "a dependency on no operation";
    }
    const Operation& earlier = schedule_.operations[static_cast<std::size_t>(dependency.operation)];
    const bool carried = operation.loop >= 0 && earlier.loop == operation.loop;
    if (!carried && dependency.distance != 0) return "a dependency with a distance across loops";
    if (dependency.distance < 0) return "a dependency on a later iteration";
    if (dependency.operation >= id && !(carried && dependency.distance > 0)) return "a dependency on a later operation";
    return {};
  }

  std::string reduce_fault(const Operation& operation) const {
    const auto regions = schedule_.regions_of(operation);
    if (regions[0].length != regions[2].length || regions[1].length != regions[2].length)
      return "operands of unequal length";
    if (regions[2] == regions[1]) return {};
    const bool apart =
        (!regions[2].same_block(regions[0]) || !overlap(range_at(regions[2], 0), range_at(regions[0], 0))) &&
        (!regions[2].same_block(regions[1]) || !overlap(range_at(regions[2], 0), range_at(regions[1], 0)));
    return apart ? "" : "the target overlaps an operand and is not the right one";
  }

  const Schedule& schedule_;
};

template <class T>
std::int64_t memory(const std::vector<T>& vector) {
  return static_cast<std::int64_t>(vector.capacity() * sizeof(T));
}

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
      return true;
    case Kind::copy:
    case Kind::put:
      return region == 1;
    case Kind::reduce:
      return region == 2;
    default:
      return false;
  }
}

std::int64_t Schedule::bytes() const {
  return static_cast<std::int64_t>(sizeof(Schedule)) + memory(scratch) + memory(slots) + memory(operations) +
         memory(regions) + memory(dependencies) + memory(loops);
}

std::int64_t Schedule::scratch_units() const {
  return std::accumulate(scratch.begin(), scratch.end(), std::int64_t{0});
}

std::string malformed(const Schedule& schedule) {
  return Check(schedule).run();
}

}  // namespace quadrille
