#include "measure/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "measure/noise.hpp"
#include "select/case.hpp"

namespace quadrille::measure {

namespace {

using Wins = std::map<std::string, Interval>;  // the ratio to native, by variant
using BySize = std::map<std::int64_t, Wins>;   // of every measured size, with or without winners

// A range with one winner, the medians measured in it, and the measured sizes that it was found from.
struct Piece {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::string variant;
  std::vector<Interval> ratios;
  std::set<std::int64_t> sizes;
};

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

BySize wins_of(const Report& report, Collective collective, const Noise& noise, const TuningOptions& options) {
  BySize sizes;
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
  }
  return sizes;
}

void add(std::vector<Piece>& pieces, Piece piece) {
  if (pieces.empty() || pieces.back().variant != piece.variant || pieces.back().to + 1 != piece.from) {
    pieces.push_back(std::move(piece));
    return;
  }
  pieces.back().to = piece.to;
  pieces.back().sizes.merge(piece.sizes);
  pieces.back().ratios.insert(pieces.back().ratios.end(), piece.ratios.begin(), piece.ratios.end());
}

void add_best(std::vector<Piece>& pieces, std::int64_t size, const Wins& wins, bool with_native) {
  const auto best = std::min_element(wins.begin(), wins.end(),
                                     [](const auto& a, const auto& b) { return a.second.middle < b.second.middle; });
  if (best != wins.end()) {
    add(pieces, {size, size, best->first, {best->second}, {size}});
  } else if (with_native) {
    add(pieces, {size, size, std::string(native), {}, {size}});
  }
}

void add_between(std::vector<Piece>& pieces, const BySize::value_type& low, const BySize::value_type& high,
                 bool with_native) {
  if (high.first - low.first < 2) return;
  const std::set<std::int64_t> ends = {low.first, high.first};
  if (with_native && low.second.empty() && high.second.empty()) {
    add(pieces, {low.first + 1, high.first - 1, std::string(native), {}, ends});
  }
  const Wins::value_type* best = nullptr;
  double least = 1;
  for (const auto& one : low.second) {
    const auto other = high.second.find(one.first);
    if (other == high.second.end() || one.second.middle * other->second.middle >= least) continue;
    least = one.second.middle * other->second.middle;
    best = &one;
  }
  if (!best) return;
  add(pieces, {low.first + 1, high.first - 1, best->first, {best->second, high.second.at(best->first)}, ends});
}

// What was measured of a piece.
void set_times(Section::Line& line, const Report& report, const Piece& piece) {
  const std::string_view collective = name(line.rule.collective);
  double ours = 0;
  double natives = 0;
  for (const std::int64_t size : piece.sizes) {
    const Point* const winner = find(report.points, collective, size, piece.variant);
    const Point* const other = find(report.points, collective, size, native);
    if (!winner || !other) return;
    // What the rule was made from is the ratio within rounds, which noise does less to.
    const double usual = std::log(median_interval(other->seconds).middle);
    natives += usual;
    ours += usual + std::log(ratio_interval(winner->seconds, other->seconds).middle);
    line.calls += std::ssize(winner->seconds) * winner->calls;
  }
  line.seconds = std::exp(ours / static_cast<double>(piece.sizes.size()));
  line.native_seconds = std::exp(natives / static_cast<double>(piece.sizes.size()));
  line.when = report.provenance.date;
}

std::string note_of(const Piece& piece) {
  const auto [least, most] =
      std::minmax_element(piece.ratios.begin(), piece.ratios.end(),
                          [](const Interval& a, const Interval& b) { return a.middle < b.middle; });
  if (piece.from == piece.to) {
    return fmt::format("{:.2g} of native's time ({:.2g}-{:.2g})", least->middle, least->low, least->high);
  }
  return fmt::format("{:.2g}-{:.2g} of native's time", least->middle, most->middle);
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
    const BySize sizes = wins_of(report, collective, noise, options);
    std::vector<Piece> pieces;
    const auto with_native = [&](std::int64_t size) {
      const Point* const point = find(report.points, name(collective), size, native);
      return options.to_remember && point && point->has_interval();
    };
    for (auto size = sizes.begin(); size != sizes.end(); ++size) {
      if (size != sizes.begin())
        add_between(pieces, *std::prev(size), *size, with_native(std::prev(size)->first) && with_native(size->first));
      add_best(pieces, size->first, size->second, with_native(size->first));
    }
    for (const Piece& piece : pieces) {
      Variant variant = variant_named(collective, piece.variant);
      if (variant && variant.algorithm().segmented) variant.segment = segment;
      section.lines.push_back(
          {.rule = {.collective = collective, .from = piece.from, .to = piece.to, .variant = variant},
           .note = variant ? note_of(piece) : ""});
      if (options.to_remember) set_times(section.lines.back(), report, piece);
    }
  }
  if (section.lines.empty()) section.comments.emplace_back("no algorithm is faster than native");
  return section;
}

}  // namespace quadrille::measure
