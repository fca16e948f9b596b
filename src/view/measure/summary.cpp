#include "measure/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "measure/noise.hpp"
#include "text/quantities.hpp"

namespace quadrille::measure {

namespace {

constexpr std::string_view library_choice = "default";

// In the order of their first points, with the sizes in ascending order.
using Cells = std::map<std::int64_t, std::vector<const Point*>>;
std::vector<std::pair<std::string, Cells>> cells_of(std::span<const Point> points) {
  std::vector<std::pair<std::string, Cells>> all;
  for (const Point& point : points) {
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == point.collective; });
    if (found == all.end()) found = all.insert(all.end(), {point.collective, {}});
    found->second[point.bytes].push_back(&point);
  }
  return all;
}

// Of those with the same schedule the least favourable.
const Interval& ratio_of(std::span<const Point> points, const Point& first) {
  return *cautious(points, first).ratio;
}

// The fastest of those that compete with native; null if there is none.
const Point* best_of(std::span<const Point> points, const std::vector<const Point*>& cell) {
  const auto best = [&](auto&& competes) {
    const Point* found = nullptr;
    for (const Point* point : cell) {
      if (!point->ratio || !competes(*point)) continue;
      if (!found || ratio_of(points, *point).middle < ratio_of(points, *found).middle) found = point;
    }
    return found;
  };
  const Point* const named = best([](const Point& point) {
    return !is_of_native(point.variant) && point.variant != library_choice && point.same_as.empty();
  });
  return named ? named : best([](const Point& point) { return point.variant == library_choice; });
}

Interval product(const Interval& a, const Interval& b) {
  return {a.middle * b.middle, a.low * b.low, a.high * b.high};
}

Interval root(const Interval& of, int degree) {
  const auto root_of = [degree](double value) { return std::pow(value, 1.0 / degree); };
  return {root_of(of.middle), root_of(of.low), root_of(of.high)};
}

std::string sizes_text(const Winner& winner) {
  if (winner.to == 0) return "";
  if (winner.from == winner.to) return text::bytes(winner.from);
  return fmt::format("{} to {}", text::bytes(winner.from), text::bytes(winner.to));
}

std::string line(const Winner& winner) {
  const std::string ratio = ratio_text(winner.ratio, true);
  const std::string text = winner.variant == native ? fmt::format("the best of the others takes {}{}", ratio,
                                                                  winner.ratio.low < 1 ? ", not significant" : "")
                                                    : ratio + " of native's time";
  return fmt::format("  {:<21} {:<20} {:<20} {}\n", winner.collective, sizes_text(winner), winner.variant, text);
}

}  // namespace

std::vector<Winner> winners(std::span<const Point> points) {
  const Noise noise(points);
  std::vector<Winner> all;
  for (const auto& [collective, cells] : cells_of(points)) {
    bool follows = false;  // the size before is of the same collective and has a winner
    for (const auto& [bytes, cell] : cells) {
      const Point* const best = best_of(points, cell);
      const bool continues = best && follows;
      follows = best != nullptr;
      if (!best) continue;
      const Interval& ratio = ratio_of(points, *best);
      const bool certain = best->has_interval() && ratio.high * (1 + noise.at(collective, bytes)) < 1;
      const std::string variant = certain ? best->variant : std::string(native);
      if (continues && all.back().variant == variant) {
        all.back().to = bytes;
        all.back().ratio = product(all.back().ratio, ratio);
        ++all.back().sizes;
      } else {
        all.push_back({collective, bytes, bytes, variant, ratio, 1});
      }
    }
  }
  for (Winner& one : all) one.ratio = root(one.ratio, one.sizes);
  return all;
}

std::vector<DefaultMean> default_means(std::span<const Point> points) {
  std::vector<DefaultMean> all;
  DefaultMean total;
  double sum = 0;
  for (const auto& [collective, cells] : cells_of(points)) {
    DefaultMean mean{.collective = collective};
    double logarithms = 0;
    for (const auto& [bytes, cell] : cells) {
      for (const Point* point : cell) {
        if (point->variant != library_choice || !point->ratio) continue;
        logarithms += std::log(point->ratio->middle);
        ++mean.sizes;
      }
    }
    if (mean.sizes == 0) continue;
    mean.ratio = std::exp(logarithms / mean.sizes);
    sum += logarithms;
    total.sizes += mean.sizes;
    all.push_back(mean);
  }
  if (all.size() < 2) return all;
  total.ratio = std::exp(sum / total.sizes);
  all.push_back(total);
  return all;
}

std::string summary_text(std::span<const Point> points) {
  std::string out;
  const std::vector<Winner> fastest = winners(points);
  if (!fastest.empty()) out += "\nfastest\n";
  for (const Winner& one : fastest) out += line(one);
  const std::vector<DefaultMean> means = default_means(points);
  if (!means.empty()) out += "\ndefault, geometric mean of its ratios to native\n";
  for (const DefaultMean& mean : means) {
    out += fmt::format("  {:<21} {:<20} {}\n", mean.collective.empty() ? "all" : mean.collective,
                       fmt::format("{} size{}", mean.sizes, mean.sizes == 1 ? "" : "s"),
                       ratio_text({mean.ratio, mean.ratio, mean.ratio}, false));
  }
  return out;
}

}  // namespace quadrille::measure
