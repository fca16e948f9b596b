#include "measure/compare.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace quadrille::measure {

namespace {

// Repeats are divided by native's of the same round; if rounds don't match, by its median.
std::vector<double> relative_to(const Point& base, const Point& point) {
  std::vector<double> ratios = point.seconds;
  const bool paired = base.seconds.size() == ratios.size();
  const double median = median_interval(base.seconds).middle;
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= paired ? base.seconds[i] : median;
  return ratios;
}

Change change_at(const Point& point) {
  return {.collective = point.collective, .bytes = point.bytes, .variant = point.variant, .before = {}, .after = {}};
}

double median(const std::vector<double>& samples) {
  return median_interval(samples).middle;
}

class Comparison {
 public:
  Comparison(const Report& before, const Report& after) : before_(before), after_(after) {}

  Change of(const Point& old_point, const Point& new_point) const {
    Change change = change_at(old_point);
    change.calls_before = old_point.calls;
    change.calls_after = new_point.calls;
    std::vector<double> old_samples = old_point.seconds;
    std::vector<double> new_samples = new_point.seconds;
    const Point* old_base = find(before_.points, change.collective, change.bytes, native);
    const Point* new_base = find(after_.points, change.collective, change.bytes, native);
    change.by_ratio = old_base && new_base && change.variant != native;
    change.baseline = change.variant == native && has_others(change);
    if (change.by_ratio) {
      old_samples = relative_to(*old_base, old_point);
      new_samples = relative_to(*new_base, new_point);
    }
    change.before = median(old_samples);
    change.after = median(new_samples);
    change.factor = *change.after / *change.before;
    change.p = rank_sum_p(old_samples, new_samples);
    return change;
  }

 private:
  bool has_others(const Change& change) const {
    return std::any_of(before_.points.begin(), before_.points.end(), [&](const Point& point) {
      return point.bytes == change.bytes && point.collective == change.collective && point.variant != native &&
             find(after_.points, point.collective, point.bytes, point.variant) != nullptr;
    });
  }

  const Report& before_;
  const Report& after_;
};

void judge(std::vector<Change>& changes, const CompareOptions& options) {
  std::vector<double> p_values;
  for (const Change& change : changes) p_values.push_back(change.p);
  const std::vector<bool> believed = significant(p_values, options.level);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!believed[i]) continue;
    Change& change = changes[i];
    if (change.factor > 1 + options.threshold) change.verdict = Verdict::slower;
    if (change.factor < 1 / (1 + options.threshold)) change.verdict = Verdict::faster;
  }
}

// The points of `report` that `other` lacks.
std::vector<Change> only_in(const Report& report, const Report& other, Verdict verdict) {
  std::vector<Change> changes;
  for (const Point& point : report.points) {
    if (find(other.points, point.collective, point.bytes, point.variant)) continue;
    Change change = change_at(point);
    (verdict == Verdict::only_before ? change.before : change.after) = median(point.seconds);
    change.verdict = verdict;
    changes.push_back(std::move(change));
  }
  return changes;
}

// The p of fully separated samples, the minimum.
double least_p(std::size_t n, std::size_t m) {
  std::vector<double> a(n);
  std::vector<double> b(m);
  std::iota(a.begin(), a.end(), 0.0);
  std::iota(b.begin(), b.end(), static_cast<double>(n));
  return rank_sum_p(a, b);
}

}  // namespace

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::only_before:
      return "only before";
    case Verdict::only_after:
      return "only after";
  }
  return "?";
}

std::vector<Change> compare(const Report& before, const Report& after, const CompareOptions& options) {
  const Comparison comparison(before, after);
  std::vector<Change> changes;
  for (const Point& point : before.points) {
    const Point* like = find(after.points, point.collective, point.bytes, point.variant);
    if (like) changes.push_back(comparison.of(point, *like));
  }
  judge(changes, options);
  for (const auto& missing :
       {only_in(before, after, Verdict::only_before), only_in(after, before, Verdict::only_after)}) {
    changes.insert(changes.end(), missing.begin(), missing.end());
  }
  return changes;
}

std::int64_t underpowered(const Report& before, const Report& after, const std::vector<Change>& changes,
                          const CompareOptions& options) {
  std::vector<double> least;
  for (const Change& change : changes) {
    const Point* old_point = find(before.points, change.collective, change.bytes, change.variant);
    const Point* new_point = find(after.points, change.collective, change.bytes, change.variant);
    if (old_point && new_point) least.push_back(least_p(old_point->seconds.size(), new_point->seconds.size()));
  }
  const double level = options.level / static_cast<double>(least.size());
  return std::count_if(least.begin(), least.end(), [level](double p) { return p > level; });
}

}  // namespace quadrille::measure
