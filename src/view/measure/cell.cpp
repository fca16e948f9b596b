#include "measure/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/statistics.hpp"

namespace quadrille::measure {

namespace {

// They determine the calls per repeat.
constexpr int probing_rounds = 3;
constexpr std::int32_t most_roots = 4;  // each has its own schedules, and the engine caches 64
constexpr double least_slack = 0.5e-3;
constexpr double most_slack = 1;
constexpr int most_calls = 5000;
constexpr double most_repeat = 0.1;  // seconds: a fast variant must not make a slow one repeat for long
constexpr int give_up = 50;          // consecutive repeats with a late rank
constexpr double patience = 4;       // multiple of the time limit, to reach the minimum repeats
// Tolerated delay of a start, relative to the repeat, and below the resolution of the clocks.
constexpr int most_disturbed = 5;  // in a row: a rank that is always late does not have its own core
constexpr double bearable_lateness = 0.05;
constexpr double least_lateness = 1e-6;

std::vector<std::int32_t> spread_roots(int ranks, bool rooted) {
  const std::int32_t count = rooted ? std::min(most_roots, ranks) : 1;
  std::vector<std::int32_t> roots;
  for (std::int32_t i = 0; i < count; ++i) {
    roots.push_back(static_cast<std::int32_t>(std::int64_t{i} * ranks / count));
  }
  return roots;
}

}  // namespace

double Cell::Variant::half_width() const {
  return seconds.size() < least_for_interval ? std::numeric_limits<double>::infinity()
                                             : median_interval(seconds).half_width();
}

double Cell::Variant::probed() const {
  return probes.empty() ? 0 : median_interval(probes).middle;
}

Cell::Cell(int variants, int ranks, Goal goal, CellOptions options, std::uint64_t seed)
    : goal_(goal),
      options_(options),
      roots_(spread_roots(ranks, options.rooted)),
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

bool Cell::given_up() const {
  return late_in_a_row_ >= give_up;
}

bool Cell::enough(double now) const {
  const auto usable = std::count_if(variants_.begin(), variants_.end(), [](const Variant& one) { return one.usable; });
  if (usable == 0) return true;
  if (probes_ < probing_rounds) return false;
  if (rounds_ >= goal_.most) return true;
  const double times_over = (now - began_) / (goal_.seconds * static_cast<double>(usable));
  if (times_over > patience && rounds_ > 0) return true;
  return rounds_ >= goal_.least && (times_over > 1 || half_width() <= goal_.precision);
}

void Cell::begin_round() {
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    if (variants_[i].usable) order_.push_back(static_cast<std::int32_t>(i));
  }
  std::shuffle(order_.begin(), order_.end(), random_);
}

// The first call with a root also builds its schedule, so warm-ups are no estimate of the duration.
void Cell::end_round() {
  if (warm_ups_ < static_cast<int>(roots_.size())) {
    ++warm_ups_;
  } else if (probes_ < probing_rounds) {
    ++probes_;
    began_ = 0;  // the time limit is for the rounds
  } else {
    ++rounds_;
    return;
  }
  // The very first call may have to connect the ranks.
  if (warm_ups_ + probes_ >= 2) drop_slow();
  calls_ = calls_for_all();
  if (warm_ups_ < static_cast<int>(roots_.size()) || probes_ > 0) return;
  for (Variant& variant : variants_) variant.probes.clear();
}

// A linear algorithm may take a hundred times as long as a tree: nobody needs to know exactly.
void Cell::drop_slow() {
  if (goal_.within <= 0) return;
  double fastest = std::numeric_limits<double>::infinity();
  for (const Variant& variant : variants_) {
    if (variant.usable) fastest = std::min(fastest, variant.fastest);
  }
  for (auto i = static_cast<std::size_t>(options_.kept); i < variants_.size(); ++i) {
    Variant& variant = variants_[i];
    if (!variant.usable || variant.fastest <= goal_.within * fastest) continue;
    variant.usable = false;
    variant.refusal = fmt::format("dropped, since it takes {:.1f} times the fastest", variant.fastest / fastest);
  }
}

int Cell::calls_for_all() const {
  if (options_.one_call) return 1;
  double fastest = std::numeric_limits<double>::infinity();
  double slowest = 1e-9;
  for (const Variant& variant : variants_) {
    if (!variant.usable) continue;
    fastest = std::min(fastest, std::max(variant.probed(), 1e-9));
    slowest = std::max(slowest, variant.probed());
  }
  const double calls = std::min(std::ceil(options_.least_repeat / fastest), most_repeat / slowest);
  return static_cast<int>(std::clamp(calls, 1.0, static_cast<double>(most_calls)));
}

Instruction Cell::next(double now, double pause) {
  if (began_ == 0) began_ = now;
  if (given_up()) return {};
  if (order_.empty()) {
    if (enough(now)) return {};
    begin_round();
  }
  const int round = warm_ups_ + probes_ + rounds_;
  last_ = {.variant = order_.back(),
           .calls = calls_,
           .root = roots_[static_cast<std::size_t>(round) % roots_.size()],
           .start = now + std::max(slack_, pause)};
  issued_at_ = now;
  return last_;
}

bool Cell::disturbed(double began, double ended) const {
  if (!options_.own_cores || warm_ups_ < static_cast<int>(roots_.size())) return false;
  const double bearable = std::max(bearable_lateness * (ended - last_.start), least_lateness);
  return began - last_.start > bearable && disturbed_in_a_row_ < most_disturbed;
}

void Cell::record(std::span<const Timing> timings, const std::string& refusal) {
  Variant& variant = variants_[static_cast<std::size_t>(last_.variant)];
  if (timings.front().refused != 0) {
    variant.usable = false;
    variant.refusal = refusal;
  } else {
    double arrived = 0;
    double began = 0;
    double ended = 0;
    for (const Timing& timing : timings) {
      arrived = std::max(arrived, timing.arrived);
      began = std::max(began, timing.began);
      ended = std::max(ended, timing.ended);
    }
    // The next start leaves the slowest rank enough time to get ready.
    const double needed = 1.5 * (arrived - issued_at_);
    slack_ = std::clamp(std::max(needed, 0.9 * slack_), least_slack, most_slack);
    const bool late = arrived > last_.start;
    late_in_a_row_ = late ? late_in_a_row_ + 1 : 0;
    if (late || disturbed(began, ended)) {
      ++variant.discarded;
      disturbed_in_a_row_ += late ? 0 : 1;
      return;
    }
    disturbed_in_a_row_ = 0;
    const double seconds = (ended - last_.start) / last_.calls;
    const bool probing = probes_ < probing_rounds;
    (probing ? variant.probes : variant.seconds).push_back(seconds);
    if (probing) variant.fastest = variant.fastest > 0 ? std::min(variant.fastest, seconds) : seconds;
  }
  order_.pop_back();
  if (order_.empty()) end_round();
}

}  // namespace quadrille::measure
