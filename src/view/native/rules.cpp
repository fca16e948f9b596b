#include "native/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "text/quantities.hpp"

namespace quadrille::native {

namespace {

using measure::Interval;

// Of the MPI's time by default; low and high as far as both intervals allow.
Interval ratio(const Interval& of, const Interval& to) {
  return {of.middle / to.middle, of.low / to.high, of.high / to.low};
}

std::vector<Algorithm> algorithms_of(Library library, const Point& point) {
  if (library == Library::mpich) return mpich_algorithms(point.collective, "");
  return openmpi_algorithms(point.collective, "", {point.segment});
}

// With what is known of its needs. A reduction that is not known may need an operation that commutes.
Algorithm algorithm_of(Library library, const Point& point) {
  for (Algorithm& one : algorithms_of(library, point)) {
    if (one.name == point.algorithm && one.number == point.number) return one;
  }
  return {point.collective,
          point.algorithm,
          point.number,
          point.segment,
          {.commutative = point.collective.find("reduce") != std::string::npos}};
}

const Point* default_of(const Report& report, const Point& point) {
  for (const Point& one : report.points) {
    if (one.algorithm == by_default && one.collective == point.collective && one.bytes == point.bytes) return &one;
  }
  return nullptr;
}

// Nothing if there was one launch only, which may have been slow by chance, or too few repeats. Of a launch with few
// the interval is all of its range.
std::optional<Interval> sure_time(const Point& point) {
  std::size_t repeats = 0;
  for (const auto& launch : point.seconds) repeats += launch.size();
  if (point.seconds.size() < 2 || repeats < measure::least_for_interval) return std::nullopt;
  return point.time();
}

// MPICH's rules test what is needed of a call; Open MPI's can't.
bool is_withheld(Library library, const Algorithm& algorithm, const RuleOptions& options) {
  return library == Library::openmpi && algorithm.needs.commutative && !options.commutative;
}

void add_rules(Rules& rules, const Report& report, const std::string& collective, const RuleOptions& options) {
  measure::WinsBySize sizes;
  for (const Point& point : report.points) {
    if (point.collective != collective) continue;
    measure::Wins& wins = sizes[point.bytes];
    const Point* const usual = default_of(report, point);
    if (point.algorithm == by_default || !usual) continue;
    const std::optional<Interval> time = sure_time(point);
    const std::optional<Interval> usual_time = sure_time(*usual);
    if (!time || !usual_time) continue;
    const Interval relative = ratio(*time, *usual_time);
    if (relative.high >= 1 || relative.middle > 1 - options.gain) continue;
    if (is_withheld(report.library, algorithm_of(report.library, point), options)) {
      ++rules.withheld;
    } else {
      wins[point.algorithm] = relative;
    }
  }
  for (measure::WinningRange& range : measure::winning_ranges(sizes)) {
    const auto point = std::find_if(report.points.begin(), report.points.end(), [&](const Point& one) {
      return one.collective == collective && one.algorithm == range.variant;
    });
    rules.list.push_back({report.provenance.ranks, algorithm_of(report.library, *point), std::move(range)});
  }
}

std::string sizes_text(const measure::WinningRange& range) {
  if (range.from == range.to) return text::bytes(range.from);
  return fmt::format("{} to {}", text::bytes(range.from), text::bytes(range.to));
}

}  // namespace

Rules rules_of(const std::vector<Report>& reports, const RuleOptions& options) {
  Rules rules;
  for (const Report& report : reports) {
    const std::vector<std::string>& tunable = tunable_collectives(report.library);
    std::set<std::string> collectives;
    for (const Point& point : report.points) {
      if (std::find(tunable.begin(), tunable.end(), point.collective) != tunable.end()) {
        collectives.insert(point.collective);
      }
    }
    for (const std::string& collective : collectives) add_rules(rules, report, collective, options);
  }
  const auto order = [](const Rule& rule) { return std::tie(rule.algorithm.collective, rule.ranks, rule.range.from); };
  std::stable_sort(rules.list.begin(), rules.list.end(),
                   [&](const Rule& a, const Rule& b) { return order(a) < order(b); });
  return rules;
}

std::vector<std::string> origins(const std::vector<Report>& reports) {
  std::vector<std::string> lines;
  for (const Report& report : reports) {
    const measure::Provenance& from = report.provenance;
    lines.push_back(fmt::format("measured {} on {}: {}, {} ranks on {} node{}{}: {}", from.date, from.host, from.mpi,
                                from.ranks, from.nodes, from.nodes == 1 ? "" : "s",
                                from.oversubscribed ? ", oversubscribed" : "", from.command));
    for (const std::string& warning : from.warnings) lines.push_back(fmt::format("warning: {}", warning));
    if (!report.complete) lines.emplace_back("warning: not everything was measured");
  }
  return lines;
}

std::string to_text(const Rule& rule) {
  const bool sized = rule.algorithm.collective != "barrier";
  return fmt::format("{}{} on {} ranks: {}, {}", rule.algorithm.collective, sized ? ", " + sizes_text(rule.range) : "",
                     rule.ranks, rule.algorithm.name, share_of_time(rule.range, "the default's"));
}

}  // namespace quadrille::native
