#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "measure/report.hpp"

namespace quadrille::measure {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* format_name = "quadrille bench";
constexpr int format_version = 1;

ordered_json json_of(const Interval& interval, bool whole) {
  if (!whole) return {{"median", interval.middle}};
  return {{"median", interval.middle}, {"low", interval.low}, {"high", interval.high}};
}

ordered_json json_of(const Provenance& from) {
  return {{"version", from.version},
          {"mpi", from.mpi},
          {"ranks", from.ranks},
          {"nodes", from.nodes},
          {"ranks_per_node", from.ranks_per_node},
          {"binding", from.binding},
          {"usable_cores", from.usable_cores},
          {"oversubscribed", from.oversubscribed},
          {"command", from.command},
          {"label", from.label},
          {"host", from.host},
          {"date", from.date},
          {"rate_bits", from.rate_bits},
          {"uplink_bits", from.uplink_bits},
          {"clock_uncertainty", from.clock_uncertainty},
          {"other_load", from.other_load},
          {"warnings", from.warnings}};
}

ordered_json json_of(const Point& point) {
  ordered_json object = {{"collective", point.collective},
                         {"bytes", point.bytes},
                         {"variant", point.variant},
                         {"time", json_of(point.time, point.has_interval())}};
  if (point.ratio) object["ratio"] = json_of(*point.ratio, point.has_interval());
  if (point.steps) object["steps"] = *point.steps;
  if (point.price) object["price"] = *point.price;
  if (point.floor) object["floor"] = *point.floor;
  object["discarded"] = point.discarded;
  object["calls"] = point.calls;
  object["settled"] = point.settled;
  if (!point.same_as.empty()) object["same_as"] = point.same_as;
  object["seconds"] = point.seconds;
  return object;
}

// Host names and command lines may contain invalid UTF-8.
std::string dumped(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

// A JSON object and its position, for error messages.
class Reader {
 public:
  Reader(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) complain("", "not an object");
  }

  bool has(const char* key) const { return object_.contains(key); }

  const json& at(const char* key) const {
    if (!has(key)) complain(key, "missing");
    return object_.at(key);
  }

  Reader object(const char* key) const { return {at(key), path(key)}; }

  const json& list(const char* key) const {
    if (!at(key).is_array()) complain(key, "not a list");
    return at(key);
  }

  std::string text(const char* key) const {
    if (!at(key).is_string()) complain(key, "not a text");
    return at(key).get<std::string>();
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    for (const json& one : list(key)) {
      if (!one.is_string()) complain(fmt::format("{}[{}]", key, all.size()), "not a text");
      all.push_back(one.get<std::string>());
    }
    return all;
  }

  bool truth(const char* key) const {
    if (!at(key).is_boolean()) complain(key, "neither true nor false");
    return at(key).get<bool>();
  }

  double number(const char* key) const {
    if (!at(key).is_number()) complain(key, "not a number");
    return at(key).get<double>();
  }

  template <class Integer>
  Integer count(const char* key) const {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
    if (!at(key).is_number_unsigned() || at(key).get<std::uint64_t>() > most) complain(key, "not a count");
    return at(key).get<Integer>();
  }

  Interval interval(const char* key) const {
    const Reader inner = object(key);
    const double middle = inner.number("median");
    if (!inner.has("low") && !inner.has("high")) return {middle, middle, middle};  // too few repeats
    return {middle, inner.number("low"), inner.number("high")};
  }

  [[noreturn]] void complain(const std::string& key, std::string_view what) const {
    const std::string where = key.empty() ? place_ : path(key);
    throw std::invalid_argument(where.empty() ? std::string(what) : fmt::format("{}: {}", where, what));
  }

 private:
  std::string path(const std::string& key) const { return place_.empty() ? key : fmt::format("{}.{}", place_, key); }

  const json& object_;
  std::string place_;
};

Provenance provenance_from(const Reader& in) {
  Provenance from;
  from.version = in.text("version");
  from.mpi = in.text("mpi");
  from.ranks = in.count<int>("ranks");
  from.nodes = in.count<int>("nodes");
  from.ranks_per_node = in.text("ranks_per_node");
  from.binding = in.text("binding");
  from.usable_cores = in.count<int>("usable_cores");
  from.oversubscribed = in.truth("oversubscribed");
  from.command = in.text("command");
  from.label = in.text("label");
  from.host = in.text("host");
  from.date = in.text("date");
  from.rate_bits = in.number("rate_bits");
  from.uplink_bits = in.number("uplink_bits");
  if (in.has("clock_uncertainty")) from.clock_uncertainty = in.number("clock_uncertainty");
  if (in.has("other_load")) from.other_load = in.number("other_load");
  if (in.has("warnings")) from.warnings = in.texts("warnings");
  return from;
}

std::vector<double> seconds_from(const Reader& in) {
  std::vector<double> seconds;
  for (const json& one : in.list("seconds")) {
    if (!one.is_number() || !(one.get<double>() > 0)) {
      in.complain(fmt::format("seconds[{}]", seconds.size()), "not a number above 0");
    }
    seconds.push_back(one.get<double>());
  }
  if (seconds.empty()) in.complain("seconds", "no repeats");
  return seconds;
}

Point point_from(const Reader& in) {
  Point point;
  point.collective = in.text("collective");
  point.bytes = in.count<std::int64_t>("bytes");
  point.variant = in.text("variant");
  point.time = in.interval("time");
  if (!(0 < point.time.low && point.time.low <= point.time.middle && point.time.middle <= point.time.high)) {
    in.complain("time", "not 0 < low <= median <= high");
  }
  if (in.has("ratio")) point.ratio = in.interval("ratio");
  if (in.has("steps")) point.steps = in.count<std::int64_t>("steps");
  if (in.has("price")) point.price = in.number("price");
  if (in.has("floor")) point.floor = in.number("floor");
  point.discarded = in.count<std::int64_t>("discarded");
  point.calls = in.count<int>("calls");
  point.settled = in.truth("settled");
  if (in.has("same_as")) point.same_as = in.text("same_as");
  point.seconds = seconds_from(in);
  return point;
}

Report report_from(const Reader& in) {
  if (!in.has("format") || in.text("format") != format_name) in.complain("", "not a report of 'quadrille bench'");
  if (in.count<int>("format_version") > format_version) in.complain("format_version", "from a newer quadrille");
  Report report{.provenance = provenance_from(in.object("provenance")), .points = {}};
  if (in.has("complete")) report.complete = in.truth("complete");
  std::map<std::tuple<std::string, std::int64_t, std::string>, std::size_t> known;
  for (const json& one : in.list("points")) {
    const std::string place = fmt::format("points[{}]", report.points.size());
    const Reader inner(one, place);
    Point point = point_from(inner);
    const auto [before, is_new] = known.insert({{point.collective, point.bytes, point.variant}, report.points.size()});
    if (!is_new) inner.complain("", fmt::format("the same variant and size as points[{}]", before->second));
    report.points.push_back(std::move(point));
  }
  return report;
}

}  // namespace

std::string to_json(const Report& report) {
  std::string points;
  for (const Point& point : report.points) {
    points += fmt::format("{}\n    {}", points.empty() ? "" : ",", dumped(json_of(point), -1));
  }
  const ordered_json head = {{"format", format_name},
                             {"format_version", format_version},
                             {"complete", report.complete},
                             {"provenance", json_of(report.provenance)}};
  std::string out = dumped(head, 2);
  out.resize(out.size() - 2);  // removes the closing line
  // One line per point: an indented list of repeats would dominate the file.
  return out + fmt::format(",\n  \"points\": [{}\n  ]\n}}\n", points);
}

Report report_from_json(std::string_view text) {
  try {
    const json all = json::parse(text);
    return report_from(Reader(all, ""));
  } catch (const json::exception& error) {
    throw std::invalid_argument(fmt::format("not JSON: {}", error.what()));
  }
}

}  // namespace quadrille::measure
