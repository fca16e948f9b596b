#include "measure/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

#include "measure/noise.hpp"
#include "measure/winning_ranges.hpp"
#include "select/case.hpp"

namespace quadrille::measure {

namespace {

bool is_ours(const Point& point, Collective collective) {
  const Variant variant = variant_named(collective, point.variant);
  return variant && variant.width >= 0;
}

// The ratio of a winner; nothing if it does not win.
std::optional<Interval> win(const Point& point, const Point& native, double level, double limit) {
  const std::size_t repeats = point.seconds.size();
  if (repeats != native.seconds.size() || repeats < least_for_interval) return std::nullopt;
  const bool enough = std::exp2(1 - static_cast<double>(repeats)) <= level;
  const Interval ratio = ratio_interval(point.seconds, native.seconds, 1 - level);
  return enough && ratio.high < limit ? std::optional(ratio) : std::nullopt;
}

WinsBySize wins_of(const Report& report, Collective collective, const Noise& noise, const TuningOptions& options) {
  WinsBySize sizes;
  const auto of_cell = [&](const Point& point, std::int64_t bytes) {
    return point.bytes == bytes && point.collective == name(collective);
  };
  for (const Point& native_point : report.points) {
    if (native_point.variant != native || !of_cell(native_point, native_point.bytes)) continue;
    Wins& wins = sizes[native_point.bytes];
    const auto competes = [&](const Point& point) {
      return of_cell(point, native_point.bytes) && is_ours(point, collective) && point.same_as.empty();
    };
    const auto rivals = std::count_if(report.points.begin(), report.points.end(), competes);
    // Bonferroni's correction for the number of variants.
    const double level = options.level / static_cast<double>(rivals);
    const double limit = (1 - options.gain) / (1 + noise.at(native_point.collective, native_point.bytes));
    for (const Point& point : report.points) {
      if (!competes(point)) continue;
      const auto ratio = win(cautious(report.points, point), native_point, level, limit);
      if (ratio) wins[point.variant] = *ratio;
    }
    if (options.to_remember && wins.empty() && native_point.has_interval()) wins[std::string(native)] = {1, 1, 1};
  }
  return sizes;
}

// What was measured in a range.
void set_times(Section::Line& line, const Report& report, const WinningRange& range) {
  const std::string_view collective = name(line.rule.collective);
  double ours = 0;
  double natives = 0;
  for (const std::int64_t size : range.sizes) {
    const Point* const winner = find(report.points, collective, size, range.variant);
    const Point* const other = find(report.points, collective, size, native);
    if (!winner || !other) return;
    // What the rule was made from is the ratio within rounds, which noise does less to.
    const double usual = std::log(median_interval(other->seconds).middle);
    natives += usual;
    ours += usual + std::log(ratio_interval(winner->seconds, other->seconds).middle);
    line.calls += std::ssize(winner->seconds) * winner->calls;
  }
  line.seconds = std::exp(ours / static_cast<double>(range.sizes.size()));
  line.native_seconds = std::exp(natives / static_cast<double>(range.sizes.size()));
  line.when = report.provenance.date;
}

}  // namespace

std::vector<Collective> measured_collectives(const Report& report) {
  std::vector<Collective> all;
  for (const Point& point : report.points) {
    const auto collective = collective_named(point.collective);
    if (collective && std::find(all.begin(), all.end(), *collective) == all.end()) all.push_back(*collective);
  }
  return all;
}

Section tuning_section(const Report& report, std::int32_t nodes, std::int64_t segment, const TuningOptions& options) {
  const Provenance& from = report.provenance;
  Section section{.mpi = from.mpi, .ranks = from.ranks, .nodes = nodes, .comments = {}, .lines = {}};
  section.comments.push_back(fmt::format("measured {} on {}: {}", from.date, from.host, from.command));
  const Noise noise(report.points);
  for (const std::string& warning : from.warnings) section.comments.push_back(warning);
  for (const Collective collective : measured_collectives(report)) {
    if (!sizes_are_known(collective)) continue;
    for (const WinningRange& range : winning_ranges(wins_of(report, collective, noise, options))) {
      Variant variant = variant_named(collective, range.variant);
      if (variant && variant.algorithm().segmented) variant.segment = segment;
      section.lines.push_back(
          {.rule = {.collective = collective, .from = range.from, .to = range.to, .variant = variant},
           .note = variant ? share_of_time(range, "native's") : ""});
      if (options.to_remember) set_times(section.lines.back(), report, range);
    }
  }
  if (section.lines.empty()) section.comments.emplace_back("no algorithm is faster than native");
  return section;
}

}  // namespace quadrille::measure
