#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>

namespace quadrille::measure {

namespace {

// Above this, the normal approximation of the binomial distribution gives the exact rank.
constexpr std::size_t most_exact = 500;

double normal_tail(double z) {
  return std::erfc(z / std::sqrt(2.0)) / 2;
}

// The z with normal_tail(z) == tail.
double normal_quantile(double tail) {
  double low = 0;
  double high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (normal_tail(middle) > tail ? low : high) = middle;
  }
  return low;
}

// The largest number of samples to exclude at each end: n fair coin tosses give at most as many heads with a
// probability below `tail`.
std::size_t cut(std::size_t n, double tail) {
  if (n > most_exact) {
    const auto real = static_cast<double>(n);
    const double rank = real / 2 + 0.5 - normal_quantile(tail) * std::sqrt(real) / 2;
    return rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1;
  }
  double probability = std::exp2(-static_cast<double>(n));  // of exactly `heads` heads
  double sum = probability;
  std::size_t heads = 0;
  while (true) {
    probability *= static_cast<double>(n - heads) / static_cast<double>(heads + 1);
    if (heads + 1 >= n || sum + probability > tail) return heads;
    sum += probability;
    ++heads;
  }
}

// Up to so many samples each, the distribution of the rank sum is computed exactly.
constexpr std::size_t most_counted = 20;

// The exact two-sided p if the first sample is greater in `pairs` of the n * m pairs. The numbers of orders with so
// many such pairs are the coefficients of the Gaussian binomial, the product of (1 - q^(m + i)) / (1 - q^i) for i from
// 1 to n.
double counted_p(std::size_t n, std::size_t m, std::size_t pairs) {
  std::vector<double> orders(n * m + 1, 0.0);  // integers below 2^38
  orders[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t u = orders.size(); u-- > m + i;) orders[u] -= orders[u - m - i];
    for (std::size_t u = i; u < orders.size(); ++u) orders[u] += orders[u - i];
  }
  const auto tail_end = orders.begin() + static_cast<std::ptrdiff_t>(std::min(pairs, n * m - pairs) + 1);
  const double tail = std::accumulate(orders.begin(), tail_end, 0.0);
  return std::min(1.0, 2 * tail / std::accumulate(orders.begin(), orders.end(), 0.0));
}

double median_of_sorted(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace

Interval median_interval(std::span<const double> samples, double confidence) {
  if (samples.empty()) throw std::invalid_argument("no samples");
  if (!(confidence > 0 && confidence < 1)) throw std::invalid_argument("the confidence must be between 0 and 1");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t outside = std::min(cut(sorted.size(), (1 - confidence) / 2), (sorted.size() - 1) / 2);
  return {median_of_sorted(sorted), sorted[outside], sorted[sorted.size() - 1 - outside]};
}

Interval ratio_interval(std::span<const double> of, std::span<const double> to, double confidence) {
  if (of.size() != to.size()) throw std::invalid_argument("paired samples must have the same size");
  std::vector<double> ratios(of.size());
  std::transform(of.begin(), of.end(), to.begin(), ratios.begin(), [](double a, double b) { return a / b; });
  return median_interval(ratios, confidence);
}

double rank_sum_p(std::span<const double> a, std::span<const double> b) {
  struct Ranked {
    double value;
    bool of_a;
  };
  std::vector<Ranked> all;
  for (double value : a) all.push_back({value, true});
  for (double value : b) all.push_back({value, false});
  std::sort(all.begin(), all.end(), [](const Ranked& x, const Ranked& y) { return x.value < y.value; });
  double rank_sum = 0;
  double ties = 0;  // sum of t^3 - t over groups of t equal samples
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].value == all[begin].value) ++end;
    const double rank = static_cast<double>(begin + end + 1) / 2;  // the mean rank of the group
    for (std::size_t i = begin; i < end; ++i) rank_sum += all[i].of_a ? rank : 0;
    const auto equal = static_cast<double>(end - begin);
    ties += equal * (equal * equal - 1);
  }
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  if (a.empty() || b.empty()) return 1;
  if (ties == 0 && a.size() <= most_counted && b.size() <= most_counted) {
    return counted_p(a.size(), b.size(), static_cast<std::size_t>(std::lround(rank_sum - n * (n + 1) / 2)));
  }
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (!(variance > 0)) return 1;
  const double away = std::abs(rank_sum - n * (n + 1) / 2 - n * m / 2) - 0.5;
  return away <= 0 ? 1 : 2 * normal_tail(away / std::sqrt(variance));
}

std::vector<bool> significant(std::span<const double> p_values, double level) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return p_values[x] < p_values[y]; });
  std::vector<bool> believed(p_values.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (p_values[order[i]] > level / static_cast<double>(order.size() - i)) break;
    believed[order[i]] = true;
  }
  return believed;
}

}  // namespace quadrille::measure
