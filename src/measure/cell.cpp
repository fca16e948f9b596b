#include "measure/cell.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/statistics.hpp"

namespace quadrille::measure {

namespace {

// The first call of a kind also builds its schedule; the next ones tell how long a repeat is to be.
constexpr int probing_rounds = 3;
constexpr double least_slack = 0.5e-3;
constexpr double most_slack = 1;
constexpr int most_calls = 5000;
constexpr double most_repeat = 0.1;  // seconds: a slow variant is not repeated for a fast one's sake
constexpr int give_up = 50;          // repeats in a row for which somebody was late

}  // namespace

double Cell::Variant::half_width() const {
  return seconds.size() < 6 ? std::numeric_limits<double>::infinity() : median_interval(seconds).half_width();
}

Cell::Cell(int variants, int ranks, Goal goal, double least_repeat, std::uint64_t seed)
    : ranks_(ranks),
      goal_(goal),
      least_repeat_(least_repeat),
      random_(seed),
      variants_(static_cast<std::size_t>(variants)),
      slack_(4 * least_slack) {}

double Cell::half_width() const {
  double widest = 0;
  for (const Variant& variant : variants_) {
    if (variant.usable) widest = std::max(widest, variant.half_width());
  }
  return widest;
}

bool Cell::enough(double now) const {
  if (probes_ < probing_rounds) return false;
  const auto usable = std::count_if(variants_.begin(), variants_.end(), [](const Variant& one) { return one.usable; });
  if (usable == 0 || rounds_ >= goal_.most || late_in_a_row_ >= give_up) return true;
  const bool time_is_up = now - began_ > goal_.seconds * static_cast<double>(usable);
  if (time_is_up && rounds_ > 0) return true;
  return rounds_ >= goal_.least && half_width() <= goal_.precision;
}

void Cell::begin_round() {
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    if (variants_[i].usable) order_.push_back(static_cast<std::int32_t>(i));
  }
  std::shuffle(order_.begin(), order_.end(), random_);
  root_ = static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(ranks_));
}

int Cell::calls_for_all() const {
  double fastest = std::numeric_limits<double>::infinity();
  double slowest = 1e-9;
  for (const Variant& variant : variants_) {
    if (!variant.usable) continue;
    fastest = std::min(fastest, std::max(variant.probed, 1e-9));
    slowest = std::max(slowest, variant.probed);
  }
  const double calls = std::min(std::ceil(least_repeat_ / fastest), most_repeat / slowest);
  return static_cast<int>(std::clamp(calls, 1.0, static_cast<double>(most_calls)));
}

Order Cell::next(double now, double pause) {
  if (began_ == 0) began_ = now;
  if (order_.empty()) {
    if (enough(now)) return {};
    begin_round();
    if (order_.empty()) return {};
  }
  if (late_in_a_row_ >= give_up) return {};
  last_ = {.variant = order_.back(), .calls = calls_, .root = root_, .start = now + std::max(slack_, pause)};
  told_at_ = now;
  return last_;
}

void Cell::record(std::span<const Timing> timings, const std::string& refusal) {
  Variant& variant = variants_[static_cast<std::size_t>(last_.variant)];
  if (timings.front().refused != 0) {
    variant.usable = false;
    variant.refusal = refusal;
    order_.pop_back();
  } else {
    double arrived = 0;
    double ended = 0;
    for (const Timing& timing : timings) {
      arrived = std::max(arrived, timing.arrived);
      ended = std::max(ended, timing.ended);
    }
    // The next start is put off for as long as the slowest needs to get ready, and a little more.
    const double needed = 1.5 * (arrived - told_at_);
    slack_ = std::clamp(std::max(needed, 0.9 * slack_), least_slack, most_slack);
    if (arrived > last_.start) {
      ++variant.discarded;
      ++late_in_a_row_;
      return;
    }
    late_in_a_row_ = 0;
    const double seconds = (ended - last_.start) / last_.calls;
    if (probes_ < probing_rounds) {
      variant.probed = seconds;
    } else {
      variant.seconds.push_back(seconds);
    }
    order_.pop_back();
  }
  if (!order_.empty()) return;
  if (probes_ < probing_rounds) {
    ++probes_;
    calls_ = calls_for_all();
  } else {
    ++rounds_;
  }
}

}  // namespace quadrille::measure
