#include "measure/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace quadrille::measure {

namespace {

// A field of a CSV file.
std::string csv_quoted(std::string_view text) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

template <class Value>
std::string or_nothing(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

const Point* find(std::span<const Point> points, std::string_view collective, std::int64_t bytes,
                  std::string_view variant) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.bytes == bytes && point.variant == variant && point.collective == collective;
  });
  return found == points.end() ? nullptr : &*found;
}

void summarise(std::span<Point> points) {
  for (Point& point : points) {
    point.time = median_interval(point.seconds);
    point.ratio.reset();
    const Point* base = find(points, point.collective, point.bytes, native);
    if (!base || base == &point || base->seconds.size() != point.seconds.size()) continue;
    point.ratio = ratio_interval(point.seconds, base->seconds);
  }
}

std::string to_csv(const Report& report) {
  const Provenance& from = report.provenance;
  const std::string origin =
      fmt::format("{},{},{},{}", csv_quoted(from.label), csv_quoted(from.mpi), from.ranks, from.nodes);
  std::string out =
      "label,mpi,ranks,nodes,collective,bytes,variant,median,low,high,ratio,ratio_low,ratio_high,steps,floor,repeats,"
      "discarded,calls,settled\n";
  for (const Point& point : report.points) {
    const auto fields = [&point](const Interval& interval) {
      return point.has_interval() ? fmt::format("{},{},{}", interval.middle, interval.low, interval.high)
                                  : fmt::format("{},,", interval.middle);
    };
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", origin, csv_quoted(point.collective), point.bytes,
                       csv_quoted(point.variant), fields(point.time), point.ratio ? fields(*point.ratio) : ",,",
                       or_nothing(point.steps), or_nothing(point.floor), point.seconds.size(), point.discarded,
                       point.calls, point.settled ? 1 : 0);
  }
  return out;
}

}  // namespace quadrille::measure
