#include "measure/clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

namespace quadrille::measure {

namespace {

// About the maximum drift of quartz clocks. Bursts too close together must not yield a spurious drift.
constexpr double usual_drift = 100e-6;
// Bursts used: the drift changes with the temperature, so old bursts say little.
constexpr std::size_t most_bursts = 8;

}  // namespace

void Clock::add(Sample sample) {
  if (!(sample.local_after >= sample.local_before) || !std::isfinite(sample.remote)) {
    throw std::invalid_argument("a reply can't arrive before its request");
  }
  if (samples_.empty() && bursts_.empty()) {
    local_origin_ = sample.local_before;
    remote_origin_ = sample.remote;
  }
  samples_.push_back(
      {sample.local_before - local_origin_, sample.remote - remote_origin_, sample.local_after - local_origin_});
}

void Clock::settle() {
  if (samples_.empty()) return;
  Burst burst;
  burst.samples = std::exchange(samples_, {});
  burst.time = (burst.samples.front().local_before + burst.samples.back().local_after) / 2;
  bursts_.push_back(std::move(burst));
  if (bursts_.size() > most_bursts) bursts_.erase(bursts_.begin());
  // The offsets depend slightly on the drift, and the drift on the offsets: a few iterations converge.
  for (int round = 0; round < 3; ++round) {
    for (Burst& one : bursts_) find_offset(one);
    fit_line();
  }
}

// Every exchange bounds the offset from both sides: the reference replied after the request left and before the reply
// arrived. The tightest bounds need not come from the same exchange: with n exchanges and noise of mean m they are m /
// n apart, while the shortest round trip gives m / sqrt(n).
void Clock::find_offset(Burst& burst) const {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  for (const Sample& sample : burst.samples) {
    low = std::max(low, sample.remote - sample.local_after - drift_ * (sample.local_after - burst.time));
    high = std::min(high, sample.remote - sample.local_before - drift_ * (sample.local_before - burst.time));
  }
  burst.offset = (low + high) / 2;
  burst.half_width = std::abs(high - low) / 2;
}

// A least-squares line through the offsets, weighted by the precision of the bursts.
void Clock::fit_line() {
  const auto by_width = [](const Burst& a, const Burst& b) { return a.half_width < b.half_width; };
  const auto [least, most] = std::minmax_element(bursts_.begin(), bursts_.end(), by_width);
  const double best = least->half_width;
  uncertainty_ = most->half_width;
  const auto weight = [best](const Burst& burst) {
    const double doubt = burst.half_width - best + best / 10 + 1e-9;
    return 1 / (doubt * doubt);
  };
  double sum = 0;
  double mean_time = 0;
  double mean_offset = 0;
  for (const Burst& burst : bursts_) {
    sum += weight(burst);
    mean_time += weight(burst) * burst.time;
    mean_offset += weight(burst) * burst.offset;
  }
  mean_time /= sum;
  mean_offset /= sum;
  double products = 0;
  double squares = 1 / (usual_drift * usual_drift);
  for (const Burst& burst : bursts_) {
    const double time = burst.time - mean_time;
    products += weight(burst) * time * (burst.offset - mean_offset);
    squares += weight(burst) * time * time;
  }
  drift_ = products / squares;
  offset_ = mean_offset - drift_ * mean_time;
}

double Clock::to_reference(double local) const {
  const double since = local - local_origin_;
  return remote_origin_ + (since + (offset_ + drift_ * since));
}

double Clock::from_reference(double reference) const {
  return local_origin_ + (reference - remote_origin_ - offset_) / (1 + drift_);
}

}  // namespace quadrille::measure
