#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>

#include "schedule/schedule.hpp"

namespace quadrille {

namespace {

// An offset in a loop: 8k, 96 + 8k, 8(k mod 2).
std::string moving(std::int64_t offset, const Region& region) {
  if (region.stride == 0) return fmt::format("{}", offset);
  const std::string turn =
      region.cycle > 0 ? fmt::format("{}(k mod {})", region.stride, region.cycle) : fmt::format("{}k", region.stride);
  return offset == 0 ? turn : fmt::format("{} + {}", offset, turn);
}

// buffer@owner#block[begin:end], without default parts.
std::string to_text(const Region& region) {
  std::string text(name(region.buffer));
  if (region.owner != self) text += fmt::format("@{}", region.owner);
  if (region.block != 0) text += fmt::format("#{}", region.block);
  if (region.offset == 0 && region.length == whole) return text;
  const std::string end = region.length == whole ? "" : moving(region.offset + region.length, region);
  return fmt::format("{}[{}:{}{}]", text, moving(region.offset, region), end, region.clipped ? " at most" : "");
}

std::string operands(const Schedule& schedule, const Operation& operation) {
  std::string text;
  const auto regions = schedule.regions_of(operation);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (i > 0) text += writes(operation.kind, static_cast<int>(i)) ? " -> " : ", ";
    text += to_text(regions[i]);
  }
  return text;
}

std::string direction(const Operation& operation) {
  switch (operation.kind) {
    case Kind::send:
    case Kind::put:
    case Kind::flush:
    case Kind::notify:
    case Kind::deposit:
      return fmt::format("to {}", operation.peer);
    case Kind::receive:
    case Kind::get:
      return fmt::format("from {}", operation.peer);
    case Kind::wait:
      return fmt::format("for {}", operation.peer);
    default:
      return {};
  }
}

std::string counter(const Operation& operation) {
  if (!counts(operation.kind) && !awaits(operation.kind)) return {};
  constexpr std::array<std::string_view, 3> boards = {"counter", "notice", "box"};
  const std::string_view on = boards[static_cast<std::size_t>(board(operation.kind))];
  const std::string stride = operation.value_stride == 0 ? "" : fmt::format(" + {}k", operation.value_stride);
  return fmt::format("{} {} = {}{}", on, operation.counter, operation.value, stride);
}

std::string dependencies(const Schedule& schedule, const Operation& operation) {
  std::string text;
  for (const Dependency& dependency : schedule.dependencies_of(operation)) {
    text += text.empty() ? "after " : ", ";
    text += fmt::format("{}", dependency.operation);
    if (dependency.distance > 0) text += fmt::format("(k-{})", dependency.distance);
    if (dependency.posted) text += " posted";
  }
  return text;
}

}  // namespace

std::string to_text(const Schedule& schedule, std::int32_t id) {
  const Operation& operation = schedule.operations[static_cast<std::size_t>(id)];
  std::string text = fmt::format("{} {}", id, name(operation.kind));
  for (const std::string& word : {direction(operation), counter(operation), operands(schedule, operation)}) {
    if (!word.empty()) text += " " + word;
  }
  if (operation.channel != 0) text += fmt::format(" channel {}", operation.channel);
  if (const std::string word = dependencies(schedule, operation); !word.empty()) text += "  " + word;
  return text;
}

std::string to_text(const Schedule& schedule) {
  std::string text = fmt::format("rank {} of {}, in {}", schedule.rank, schedule.ranks,
                                 schedule.unit == Unit::bytes ? "bytes" : "elements");
  if (!schedule.scratch.empty()) text += fmt::format(", scratch {}", fmt::join(schedule.scratch, " + "));
  if (!schedule.slots.empty()) text += fmt::format(", slots {}", fmt::join(schedule.slots, " + "));
  if (!schedule.boxes.empty()) text += fmt::format(", boxes {}", fmt::join(schedule.boxes, " + "));
  if (!schedule.staging.empty()) text += fmt::format(", staging {}", fmt::join(schedule.staging, " + "));
  if (!schedule.offload.empty()) text += fmt::format(", offload among {}", fmt::join(schedule.offload, ", "));
  text += "\n";
  std::int32_t open = -1;
  for (std::size_t i = 0; i < schedule.operations.size(); ++i) {
    const std::int32_t loop = schedule.operations[i].loop;
    if (loop != open && loop >= 0) {
      const Loop& head = schedule.loops[static_cast<std::size_t>(loop)];
      std::string times = head.chunk == 0 ? fmt::format("{} times", head.iterations)
                                          : fmt::format("each {} of {}", head.chunk, to_text(head.over));
      if (head.chunk > 0 && head.iterations > 0) times += fmt::format(", at most {} times", head.iterations);
      text += fmt::format("  loop k, {}, {} in flight\n", times, head.window);
    }
    open = loop;
    text += fmt::format("  {}{}\n", loop >= 0 ? "  " : "", to_text(schedule, static_cast<std::int32_t>(i)));
  }
  return text;
}

}  // namespace quadrille
