#include "native/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace quadrille::native {

namespace {

using nlohmann::ordered_json;

constexpr const char* format_name = "quadrille tune --native";

ordered_json json_of(const Point& point) {
  const measure::Interval time = point.time();
  ordered_json object = {{"collective", point.collective}, {"bytes", point.bytes},     {"algorithm", point.algorithm},
                         {"median", time.middle},          {"low", time.low},          {"high", time.high},
                         {"number", point.number},         {"segment", point.segment}, {"seconds", point.seconds}};
  return object;
}

Point point_of(const ordered_json& object) {
  Point point;
  point.collective = object.at("collective");
  point.bytes = object.at("bytes");
  point.algorithm = object.at("algorithm");
  point.number = object.value("number", 0);
  point.segment = object.value("segment", std::int64_t{0});
  point.seconds = object.at("seconds").get<std::vector<std::vector<double>>>();
  const auto empty = [](const std::vector<double>& launch) { return launch.empty(); };
  if (point.seconds.empty() || std::any_of(point.seconds.begin(), point.seconds.end(), empty)) {
    throw std::invalid_argument(
        fmt::format("{} {} of {} bytes: no times", point.collective, point.algorithm, point.bytes));
  }
  return point;
}

}  // namespace

measure::Interval Point::time() const {
  std::vector<double> all;
  measure::Interval whole;
  for (const std::vector<double>& launch : seconds) {
    const measure::Interval one = measure::median_interval(launch);
    whole.low = all.empty() ? one.low : std::min(whole.low, one.low);
    whole.high = std::max(whole.high, one.high);
    all.insert(all.end(), launch.begin(), launch.end());
  }
  whole.middle = measure::median_interval(all).middle;
  return whole;
}

std::optional<Trees> trees_in(std::string_view library) {
  constexpr std::string_view start = "{\"collective=";
  Trees trees;
  for (std::size_t place = library.find(start); place != std::string_view::npos;
       place = library.find(start, place + 1)) {
    const std::string_view text = library.substr(place, library.find('\0', place) - place);
    ordered_json tree = ordered_json::parse(text, nullptr, false);
    if (tree.is_discarded()) continue;
    if (text.find("\"composition=MPIDI_") != std::string_view::npos) {
      trees.device = std::move(tree);
    } else if (text.find("\"algorithm=MPIR_") != std::string_view::npos) {
      trees.own = std::move(tree);
    }
  }
  if (trees.own.is_null()) return std::nullopt;
  return trees;
}

void Report::add(const Algorithm& algorithm, std::int64_t bytes, std::vector<double> seconds) {
  if (seconds.empty()) return;
  const auto place = std::find_if(points.begin(), points.end(), [&](const Point& one) {
    return one.collective == algorithm.collective && one.bytes == bytes && one.algorithm == algorithm.name;
  });
  if (place != points.end()) {
    place->seconds.push_back(std::move(seconds));
  } else {
    points.push_back(
        {algorithm.collective, bytes, algorithm.name, algorithm.number, algorithm.segment, {std::move(seconds)}});
  }
}

std::string to_json(const Report& report) {
  const measure::Provenance& from = report.provenance;
  ordered_json object = {{"format", format_name},
                         {"version", 1},
                         {"complete", report.complete},
                         {"library", name(report.library)},
                         {"mpi", from.mpi},
                         {"ranks", from.ranks},
                         {"nodes", from.nodes},
                         {"ranks_per_node", from.ranks_per_node},
                         {"oversubscribed", from.oversubscribed},
                         {"host", from.host},
                         {"date", from.date},
                         {"command", from.command},
                         {"warnings", from.warnings},
                         {"points", ordered_json::array()},
                         {"skipped", ordered_json::array()}};
  for (const Point& point : report.points) object["points"].push_back(json_of(point));
  for (const Skipped& one : report.skipped) {
    object["skipped"].push_back(
        {{"collective", one.collective}, {"algorithm", one.algorithm}, {"bytes", one.bytes}, {"reason", one.reason}});
  }
  if (report.trees) object["trees"] = {{"own", report.trees->own}, {"device", report.trees->device}};
  return object.dump(1) + "\n";
}

Report report_from_json(std::string_view text) {
  try {
    const ordered_json object = ordered_json::parse(text);
    if (object.value("format", "") != format_name) {
      throw std::invalid_argument(fmt::format("not a report of {}", format_name));
    }
    Report report;
    const auto library = library_named(object.at("library").get<std::string>());
    if (!library) throw std::invalid_argument("library: neither openmpi nor mpich");
    report.library = *library;
    report.complete = object.value("complete", false);
    measure::Provenance& from = report.provenance;
    from.mpi = object.at("mpi");
    from.ranks = object.at("ranks");
    from.nodes = object.at("nodes");
    from.ranks_per_node = object.value("ranks_per_node", "");
    from.oversubscribed = object.value("oversubscribed", false);
    from.host = object.value("host", "");
    from.date = object.value("date", "");
    from.command = object.value("command", "");
    from.warnings = object.value("warnings", std::vector<std::string>{});
    if (from.ranks < 1) throw std::invalid_argument("ranks: not positive");
    for (const ordered_json& point : object.at("points")) report.points.push_back(point_of(point));
    for (const ordered_json& one : object.value("skipped", ordered_json::array())) {
      report.skipped.push_back({one.at("collective"), one.at("algorithm"), one.at("bytes"), one.at("reason")});
    }
    if (object.contains("trees")) report.trees = Trees{object["trees"].at("own"), object["trees"].at("device")};
    return report;
  } catch (const nlohmann::json::exception& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace quadrille::native
