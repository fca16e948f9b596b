#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "measure/statistics.hpp"

namespace quadrille::measure {

// The variants that win at a size, with the ratio of their time to native's. Native itself, with 1, may be the only
// one.
using Wins = std::map<std::string, Interval>;
// Every measured size, with or without winners.
using WinsBySize = std::map<std::int64_t, Wins>;

// A range of sizes, both ends included, with one winner, the ratios measured in it, and the measured sizes that it was
// found from.
struct WinningRange {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::string variant;
  std::vector<Interval> ratios;
  std::set<std::int64_t> sizes;
};

// At a measured size the winner with the smallest ratio. Between two neighbouring sizes one that wins at both, with the
// smallest product of the two ratios; where none wins at both, and beyond the smallest and largest size, there is no
// range. Adjacent ranges of one winner are joined.
std::vector<WinningRange> winning_ranges(const WinsBySize& sizes);

// "0.8-0.9 of native's time", of one size with its interval; `whose` is native's.
std::string share_of_time(const WinningRange& range, const std::string& whose);

}  // namespace quadrille::measure
