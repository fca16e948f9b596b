#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "schedule/schedule.hpp"

namespace quadrille {

namespace {

using nlohmann::json;

json to_json(const Region& region) {
  json object = {{"buffer", name(region.buffer)}, {"block", region.block}, {"offset", region.offset}};
  if (region.length != whole) object["length"] = region.length;
  if (region.owner != self) object["owner"] = region.owner;
  if (region.stride != 0) object["stride"] = region.stride;
  if (region.cycle != 0) object["cycle"] = region.cycle;
  if (region.clipped) object["clipped"] = true;
  return object;
}

json to_json(const Dependency& dependency) {
  json object = {{"operation", dependency.operation}};
  if (dependency.distance != 0) object["distance"] = dependency.distance;
  if (dependency.posted) object["posted"] = true;
  return object;
}

json to_json(const Schedule& schedule, const Operation& operation) {
  json object = {{"kind", name(operation.kind)}, {"regions", json::array()}, {"after", json::array()}};
  if (operation.peer != self) object["peer"] = operation.peer;
  if (operation.channel != 0) object["channel"] = operation.channel;
  if (operation.loop >= 0) object["loop"] = operation.loop;
  if (operation.counter != 0) object["counter"] = operation.counter;
  if (operation.value != 0) object["value"] = operation.value;
  if (operation.value_stride != 0) object["value_stride"] = operation.value_stride;
  for (const Region& region : schedule.regions_of(operation)) object["regions"].push_back(to_json(region));
  for (const Dependency& dependency : schedule.dependencies_of(operation))
    object["after"].push_back(to_json(dependency));
  return object;
}

json to_json(const Loop& loop) {
  json object = {{"first", loop.first}, {"last", loop.last}, {"window", loop.window}};
  if (loop.iterations > 0) object["iterations"] = loop.iterations;
  if (loop.chunk > 0) {
    object["over"] = to_json(loop.over);
    object["chunk"] = loop.chunk;
  }
  return object;
}

template <class Enum, std::size_t count>
Enum named(const json& text) {
  for (std::size_t i = 0; i < count; ++i) {
    if (name(static_cast<Enum>(i)) == text.get<std::string>()) return static_cast<Enum>(i);
  }
  throw std::invalid_argument("not a schedule: unknown name '" + text.get<std::string>() + "'");
}

Region region_from(const json& object) {
  Region region;
  region.buffer = named<Buffer, buffers>(object.at("buffer"));
  region.block = object.at("block");
  region.offset = object.at("offset");
  region.length = object.value("length", whole);
  region.owner = object.value("owner", self);
  region.stride = object.value("stride", std::int64_t{0});
  region.cycle = object.value("cycle", 0);
  region.clipped = object.value("clipped", false);
  return region;
}

void add_operation(Schedule& schedule, const json& object) {
  Operation operation;
  operation.kind = named<Kind, kinds>(object.at("kind"));
  operation.peer = object.value("peer", self);
  operation.channel = object.value("channel", 0);
  operation.loop = object.value("loop", -1);
  operation.counter = object.value("counter", 0);
  operation.value = object.value("value", std::int64_t{0});
  operation.value_stride = object.value("value_stride", std::int64_t{0});
  operation.first_region = static_cast<std::int32_t>(schedule.regions.size());
  operation.first_dependency = static_cast<std::int32_t>(schedule.dependencies.size());
  for (const json& region : object.at("regions")) schedule.regions.push_back(region_from(region));
  for (const json& one : object.at("after")) {
    schedule.dependencies.push_back({one.at("operation"), one.value("distance", 0), one.value("posted", false)});
  }
  operation.regions = static_cast<std::int32_t>(schedule.regions.size()) - operation.first_region;
  operation.dependencies = static_cast<std::int32_t>(schedule.dependencies.size()) - operation.first_dependency;
  schedule.operations.push_back(operation);
}

void add_loop(Schedule& schedule, const json& object) {
  Loop loop{.first = object.at("first"), .last = object.at("last"), .window = object.at("window")};
  loop.iterations = object.value("iterations", std::int64_t{0});
  loop.chunk = object.value("chunk", std::int64_t{0});
  if (object.contains("over")) loop.over = region_from(object.at("over"));
  schedule.loops.push_back(loop);
}

}  // namespace

std::string to_json(const Schedule& schedule) {
  json object = {{"rank", schedule.rank},
                 {"ranks", schedule.ranks},
                 {"unit", schedule.unit == Unit::bytes ? "bytes" : "elements"},
                 {"channels", schedule.channels},
                 {"counters", schedule.counters},
                 {"counter_span", schedule.counter_span},
                 {"scratch", schedule.scratch},
                 {"slots", schedule.slots},
                 {"operations", json::array()},
                 {"loops", json::array()}};
  for (const Operation& operation : schedule.operations) object["operations"].push_back(to_json(schedule, operation));
  for (const Loop& loop : schedule.loops) object["loops"].push_back(to_json(loop));
  if (!schedule.offload.empty()) object["offload"] = schedule.offload;
  if (!schedule.boxes.empty()) object["boxes"] = schedule.boxes;
  if (!schedule.staging.empty()) object["staging"] = schedule.staging;
  if (schedule.one_sided()) {
    object["notices"] = schedule.notices;
    object["notice_span"] = schedule.notice_span;
  }
  return object.dump();
}

Schedule from_json(std::string_view text) {
  try {
    const json object = json::parse(text);
    Schedule schedule;
    schedule.rank = object.at("rank");
    schedule.ranks = object.at("ranks");
    schedule.unit = object.at("unit") == "bytes" ? Unit::bytes : Unit::elements;
    schedule.channels = object.at("channels");
    schedule.counters = object.at("counters");
    schedule.counter_span = object.at("counter_span");
    schedule.scratch = object.at("scratch").get<std::vector<std::int64_t>>();
    schedule.slots = object.at("slots").get<std::vector<std::int64_t>>();
    schedule.offload = object.value("offload", std::vector<Rank>());
    schedule.boxes = object.value("boxes", std::vector<std::int64_t>());
    schedule.staging = object.value("staging", std::vector<std::int64_t>());
    schedule.notices = object.value("notices", 0);
    schedule.notice_span = object.value("notice_span", std::int64_t{0});
    for (const json& operation : object.at("operations")) add_operation(schedule, operation);
    for (const json& loop : object.at("loops")) add_loop(schedule, loop);
    if (const std::string why = malformed(schedule); !why.empty())
      throw std::invalid_argument("not a schedule: " + why);
    return schedule;
  } catch (const json::exception& error) {
    throw std::invalid_argument(std::string("not a schedule: ") + error.what());
  }
}

}  // namespace quadrille
