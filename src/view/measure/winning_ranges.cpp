#include "measure/winning_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace quadrille::measure {

namespace {

void add(std::vector<WinningRange>& ranges, WinningRange range) {
  if (ranges.empty() || ranges.back().variant != range.variant || ranges.back().to + 1 != range.from) {
    ranges.push_back(std::move(range));
    return;
  }
  ranges.back().to = range.to;
  ranges.back().sizes.merge(range.sizes);
  ranges.back().ratios.insert(ranges.back().ratios.end(), range.ratios.begin(), range.ratios.end());
}

void add_best(std::vector<WinningRange>& ranges, std::int64_t size, const Wins& wins) {
  const auto best = std::min_element(wins.begin(), wins.end(),
                                     [](const auto& a, const auto& b) { return a.second.middle < b.second.middle; });
  if (best != wins.end()) add(ranges, {size, size, best->first, {best->second}, {size}});
}

void add_between(std::vector<WinningRange>& ranges, const WinsBySize::value_type& low,
                 const WinsBySize::value_type& high) {
  if (high.first - low.first < 2) return;
  const Wins::value_type* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& one : low.second) {
    const auto other = high.second.find(one.first);
    if (other == high.second.end() || one.second.middle * other->second.middle >= least) continue;
    least = one.second.middle * other->second.middle;
    best = &one;
  }
  if (!best) return;
  add(ranges, {low.first + 1,
               high.first - 1,
               best->first,
               {best->second, high.second.at(best->first)},
               {low.first, high.first}});
}

}  // namespace

std::vector<WinningRange> winning_ranges(const WinsBySize& sizes) {
  std::vector<WinningRange> ranges;
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    if (size != sizes.begin()) add_between(ranges, *std::prev(size), *size);
    add_best(ranges, size->first, size->second);
  }
  return ranges;
}

std::string share_of_time(const WinningRange& range, const std::string& whose) {
  const auto [least, most] =
      std::minmax_element(range.ratios.begin(), range.ratios.end(),
                          [](const Interval& a, const Interval& b) { return a.middle < b.middle; });
  if (range.from == range.to) {
    return fmt::format("{:.2g} of {} time ({:.2g}-{:.2g})", least->middle, whose, least->low, least->high);
  }
  return fmt::format("{:.2g}-{:.2g} of {} time", least->middle, most->middle, whose);
}

}  // namespace quadrille::measure
