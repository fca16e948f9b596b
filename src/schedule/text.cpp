#include <fmt/format.h>

#include <iterator>

#include "schedule/schedule.hpp"

namespace quadrille {

namespace {

std::string to_text(const Region& region) {
  std::string text(name(region.buffer));
  if (region.owner != self) text += fmt::format("@{}", region.owner);
  text += fmt::format(" {}", region.block);
  if (region.offset == 0 && region.length == whole) return text;
  text += fmt::format("[{}", region.offset);
  if (region.stride != 0) {
    text += region.cycle > 0 ? fmt::format(" + {}(k mod {})", region.stride, region.cycle)
                             : fmt::format(" + {}k", region.stride);
  }
  text +=
      region.length == whole ? ", to the end" : fmt::format(", {}{}", region.clipped ? "up to " : "", region.length);
  return text + "]";
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
      return fmt::format("to {}", operation.peer);
    case Kind::receive:
      return fmt::format("from {}", operation.peer);
    case Kind::wait:
      return fmt::format("for {}", operation.peer);
    default:
      return {};
  }
}

std::string counter(const Operation& operation) {
  switch (operation.kind) {
    case Kind::publish:
    case Kind::wait:
    case Kind::notify:
    case Kind::await:
      break;
    default:
      return {};
  }
  const std::string stride = operation.value_stride == 0 ? "" : fmt::format(" + {}k", operation.value_stride);
  return fmt::format("counter {} = {}{}", operation.counter, operation.value, stride);
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
  text += "\n";
  std::int32_t open = -1;
  for (std::size_t i = 0; i < schedule.operations.size(); ++i) {
    const std::int32_t loop = schedule.operations[i].loop;
    if (loop != open && loop >= 0) {
      const Loop& head = schedule.loops[static_cast<std::size_t>(loop)];
      const std::string times = head.chunk == 0 ? fmt::format("{} times", head.iterations)
                                                : fmt::format("each {} of {}", head.chunk, to_text(head.over));
      text += fmt::format("  loop k, {}, {} in flight\n", times, head.window);
    }
    open = loop;
    text += fmt::format("  {}{}\n", loop >= 0 ? "  " : "", to_text(schedule, static_cast<std::int32_t>(i)));
  }
  return text;
}

}  // namespace quadrille
