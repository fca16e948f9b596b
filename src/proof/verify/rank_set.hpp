#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "schedule/data.hpp"

namespace quadrille::verify {

// A set of ranks as sorted runs: in most algorithms it consists of a few runs.
class RankSet {
 public:
  // Ranks [first, last).
  struct Run {
    Rank first;
    Rank last;

    friend bool operator==(const Run&, const Run&) = default;
  };

  RankSet() = default;
  explicit RankSet(Rank rank) : runs_{{rank, rank + 1}} {}

  std::span<const Run> runs() const { return runs_; }
  bool is_all(Rank ranks) const { return runs_.size() == 1 && runs_.front() == Run{0, ranks}; }

  // Adds the other's ranks; returns whether the sets were disjoint.
  bool unite(const RankSet& other) {
    if (other.runs_.size() == 1) return unite(other.runs_.front());
    if (other.runs_ == runs_) return runs_.empty();
    std::vector<Run> both;
    std::merge(runs_.begin(), runs_.end(), other.runs_.begin(), other.runs_.end(), std::back_inserter(both),
               [](const Run& a, const Run& b) { return a.first < b.first; });
    bool apart = true;
    runs_.clear();
    for (const Run& run : both) {
      apart &= runs_.empty() || run.first >= runs_.back().last;
      if (!runs_.empty() && run.first <= runs_.back().last) {
        runs_.back().last = std::max(runs_.back().last, run.last);
      } else {
        runs_.push_back(run);
      }
    }
    return apart;
  }

 private:
  bool unite(Run run) {
    const auto first =
        std::partition_point(runs_.begin(), runs_.end(), [&](const Run& r) { return r.last < run.first; });
    const auto last = std::partition_point(first, runs_.end(), [&](const Run& r) { return r.first <= run.last; });
    if (first == last) {
      runs_.insert(first, run);
      return true;
    }
    const bool apart =
        std::all_of(first, last, [&](const Run& r) { return r.last <= run.first || run.last <= r.first; });
    *first = {std::min(first->first, run.first), std::max(std::prev(last)->last, run.last)};
    runs_.erase(std::next(first), last);
    return apart;
  }

  std::vector<Run> runs_;
};

}  // namespace quadrille::verify
