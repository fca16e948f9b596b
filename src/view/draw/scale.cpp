#include "draw/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "draw/canvas.hpp"
#include "text/quantities.hpp"

namespace quadrille::draw {

namespace {

// A smaller ratio of the maximum to the minimum would magnify noise.
constexpr double least_span = 4;

std::string label_of(double value, Quantity unit) {
  switch (unit) {
    case Quantity::bytes:
      return text::bytes(static_cast<std::int64_t>(value));
    case Quantity::seconds:
      return text::short_seconds(value);
    case Quantity::bytes_a_second:
      return text::rate(value);
    case Quantity::number:
      return std::to_string(static_cast<std::int64_t>(value));
    case Quantity::ratio:
      return fmt::format("{:g}", value);
  }
  throw std::logic_error("label_of: no such quantity");
}

// Every n-th measured value: other ticks would have no points.
std::vector<Tick> every(std::size_t step, const std::vector<double>& values, Quantity unit) {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < values.size(); i += step) ticks.push_back({values[i], label_of(values[i], unit)});
  return ticks;
}

// Powers of ten and some multiples of them.
std::vector<Tick> decades(double low, double high, Quantity unit, const std::vector<double>& multiples, int step = 1) {
  std::vector<Tick> ticks;
  const int first = static_cast<int>(std::floor(std::log10(low) / step)) * step;
  for (int power = first; std::pow(10, power) <= high; power += step) {
    for (double multiple : multiples) {
      const double value = multiple * std::pow(10, power);
      const bool inside = value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
      if (inside) ticks.push_back({value, label_of(value, unit)});
    }
  }
  return ticks;
}

// From many ticks to few.
std::vector<std::vector<Tick>> choices(double low, double high, Quantity unit) {
  std::vector<std::vector<Tick>> all;
  const bool wide = high / low > 60;  // then powers of ten are enough
  if (!wide) all.push_back(decades(low, high, unit, {1, 2, 3, 5, 7}));
  if (!wide) all.push_back(decades(low, high, unit, {1, 2, 5}));
  for (int step : {1, 2, 3, 6}) all.push_back(decades(low, high, unit, {1}, step));
  return all;
}

}  // namespace

Scale::Scale(std::vector<double> values) : values_(std::move(values)) {
  std::sort(values_.begin(), values_.end());
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  if (values_.empty() || !(values_.front() >= 0) || !std::isfinite(values_.back())) {
    throw std::invalid_argument("nothing to plot, or values without a logarithm");
  }
  const auto least = std::upper_bound(values_.begin(), values_.end(), 0.0);
  const double low = least == values_.end() ? 1 : *least;
  zero_ = low / least_span;
  low_ = std::log10(values_.front() == 0 ? zero_ : low);
  high_ = std::log10(std::max(values_.back(), least == values_.end() ? zero_ : low));
  const double missing = std::log10(least_span) - (high_ - low_);
  if (missing > 0) {
    low_ -= missing / 2;
    high_ += missing / 2;
  }
}

void Scale::round_out() {
  constexpr double near = 0.35;
  if (low_ - std::floor(low_) < near) low_ = std::floor(low_);
  if (std::ceil(high_) - high_ < near) high_ = std::ceil(high_);
}

void Scale::place(double low_end, double high_end) {
  low_end_ = low_end;
  high_end_ = high_end;
}

double Scale::at(double value) const {
  const double share = (std::log10(value == 0 ? zero_ : value) - low_) / (high_ - low_);
  return low_end_ + share * (high_end_ - low_end_);
}

bool Scale::fits(const std::vector<Tick>& ticks, bool across, double size, double gap) const {
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    const double apart = std::abs(at(ticks[i].value) - at(ticks[i - 1].value));
    const double taken =
        across ? (text_width(ticks[i].label, size) + text_width(ticks[i - 1].label, size)) / 2 : 1.2 * size;
    if (apart < taken + gap) return false;
  }
  return true;
}

std::vector<Tick> Scale::ticks(Quantity unit, bool across, double size, double gap) const {
  std::vector<std::vector<Tick>> all;
  const bool by_values = unit != Quantity::seconds && unit != Quantity::bytes_a_second && unit != Quantity::ratio;
  if (!by_values) {
    all = choices(std::pow(10, low_), std::pow(10, high_), unit);
  } else {
    for (std::size_t step = 1; step <= values_.size(); ++step) all.push_back(every(step, values_, unit));
  }
  const auto fitting = std::find_if(all.begin(), all.end(),
                                    [&](const std::vector<Tick>& ticks) { return fits(ticks, across, size, gap); });
  std::vector<Tick> ticks = fitting == all.end() ? all.back() : *fitting;
  // The ends of the measured range should have ticks.
  if (const double last = values_.back(); by_values && ticks.back().value < last) {
    ticks.push_back({last, label_of(last, unit)});
    if (!fits(ticks, across, size, gap)) ticks.pop_back();
  }
  return ticks;
}

}  // namespace quadrille::draw
