#include "learn/finding.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "select/case.hpp"
#include "text/quantities.hpp"

namespace quadrille::learn {

namespace {

using Ranges = std::map<std::int64_t, std::int64_t>;  // from, to: none meets another

// The day after a time; empty if it is none.
std::string day_after(const std::string& when) {
  std::tm parts = {};
  if (!is_time(when) || !strptime(when.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts)) return "";
  return text::utc(timegm(&parts) + 24 * 60 * 60);
}

// Calls visit(from, to) for each part of a range that is not taken.
template <class Visit>
void for_each_gap(const Ranges& taken, std::int64_t from, std::int64_t to, Visit&& visit) {
  auto next = taken.upper_bound(from);
  if (next != taken.begin() && std::prev(next)->second >= from) --next;
  for (; next != taken.end() && next->first <= to; ++next) {
    if (from < next->first) visit(from, next->first - 1);
    if (next->second >= to) return;
    from = next->second + 1;
  }
  visit(from, to);
}

auto place_of(const Finding& one) {
  return std::tuple(one.mpi, one.ranks, one.nodes, one.rule.collective);
}

}  // namespace

std::vector<Finding> merged(std::vector<Finding> all, const std::string& now, std::size_t most) {
  const std::string last = day_after(now);
  const auto age = [&](const Finding& one) {
    const bool known = last.empty() || one.when <= last;
    return std::tuple(known ? std::string_view(one.when) : std::string_view(), one.calls);
  };
  std::stable_sort(all.begin(), all.end(), [&](const Finding& a, const Finding& b) { return age(a) > age(b); });
  std::map<decltype(place_of(all.front())), Ranges> taken;
  std::vector<Finding> kept;
  for (const Finding& one : all) {
    Ranges& here = taken[place_of(one)];
    std::vector<std::pair<std::int64_t, std::int64_t>> gaps;
    for_each_gap(here, one.rule.from, one.rule.to,
                 [&](std::int64_t from, std::int64_t to) { gaps.emplace_back(from, to); });
    for (const auto& [from, to] : gaps) {
      if (kept.size() == most) break;
      here.emplace(from, to);
      kept.push_back(one);
      kept.back().rule.from = from;
      kept.back().rule.to = to;
    }
  }
  std::sort(kept.begin(), kept.end(), [](const Finding& a, const Finding& b) {
    return std::tuple_cat(place_of(a), std::tuple(a.rule.from)) < std::tuple_cat(place_of(b), std::tuple(b.rule.from));
  });
  return kept;
}

Table table_of(const std::vector<Finding>& findings) {
  Table table;
  for (const Finding& one : findings) {
    if (!sizes_are_known(one.rule.collective)) continue;
    std::vector<Section>& sections = table.sections;
    if (sections.empty() || sections.back().mpi != one.mpi || sections.back().ranks != one.ranks ||
        sections.back().nodes != one.nodes) {
      sections.push_back({.mpi = one.mpi, .ranks = one.ranks, .nodes = one.nodes, .comments = {}, .lines = {}});
    }
    sections.back().lines.push_back({.rule = one.rule,
                                     .note = {},
                                     .seconds = one.seconds,
                                     .native_seconds = one.native_seconds,
                                     .calls = one.calls,
                                     .when = one.when});
  }
  return table;
}

std::vector<Finding> findings_in(const Table& table) {
  std::vector<Finding> findings;
  for (const Section& section : table.sections) {
    for (const Section::Line& line : section.lines) {
      findings.push_back({.rule = line.rule,
                          .mpi = section.mpi,
                          .ranks = section.ranks,
                          .nodes = section.nodes,
                          .seconds = line.seconds,
                          .native_seconds = line.native_seconds,
                          .calls = line.calls,
                          .when = line.when});
    }
  }
  return findings;
}

}  // namespace quadrille::learn
