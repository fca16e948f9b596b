#include "learn/lesson.hpp"

#include <algorithm>

namespace quadrille::learn {

namespace {

constexpr std::int64_t calls_before = 4;     // the first round
constexpr std::int64_t first_interval = 16;  // calls between rounds, doubled from round to round
constexpr std::int64_t longest_interval = 128;
constexpr int repeats = 2;
// Times faster than the MPI's own, to be taken instead; and slower than the best, to be given up.
constexpr double clearly = 1.03;
constexpr double hopeless = 1.3;
// Times by which the one that runs most calls has to change for all to be tried again.
constexpr double changed = 1.3;

}  // namespace

Lesson::Lesson(std::size_t candidates, std::size_t start, const Budget& budget)
    : candidates_(std::min(candidates, most_candidates)),
      budget_(budget),
      verdict_(start < candidates_ ? start : 0),
      until_round_(calls_before),
      interval_(first_interval) {
  std::fill_n(active_.begin(), candidates_, true);
}

std::size_t Lesson::next() const {
  return round_.length > 0 && step_ < round_.length ? round_.who[step_] : verdict_;
}

void Lesson::ran(double seconds) {
  const std::size_t who = next();
  const bool cold = !has_run_[who];
  has_run_[who] = true;
  ++calls_;
  total_ += seconds;
  if (!cold) times_[who].add(seconds);
  if (round_.length > 0) {
    // Until the MPI's own time is known, nothing that it doesn't run can be said to cost more.
    const double native = agreed_[0] > 0 ? agreed_[0] : times_[0].least;
    if (who != 0 && who != verdict_ && native > 0) excess_ += std::max(0.0, seconds - native);
    ++step_;
    return;
  }
  if (--until_round_ == 0 && candidates_ > 1 && budget_.share > 0) begin_round();
}

void Lesson::begin_round() {
  round_ = {};
  step_ = 0;
  const auto add = [&](std::size_t who, int times) {
    for (int i = 0; i < times; ++i) round_.who[round_.length++] = static_cast<std::uint8_t>(who);
  };
  // The MPI's own first: others are measured by it.
  for (std::size_t who = 0; who < candidates_; ++who) {
    if (active_[who] || who == 0 || who == verdict_) add(who, repeats);
  }
}

Lesson::Word Lesson::word() const {
  Word word = {};
  for (std::size_t who = 0; who < candidates_; ++who) word[who] = times_[who].count > 0 ? times_[who].least : 0;
  word[most_candidates] = total_;
  word[most_candidates + 1] = excess_;
  return word;
}

void Lesson::agree(const Word& all) {
  ++agreements_;
  const double before = agreed_[verdict_];
  for (std::size_t who = 0; who < candidates_; ++who) {
    if (all[who] > 0) agreed_[who] = all[who];
  }
  times_ = {};
  const std::size_t last = verdict_;
  std::size_t best = 0;
  for (std::size_t who = 1; who < candidates_; ++who) {
    const bool known = agreed_[who] > 0 && agreed_[0] > 0;
    if (known && agreed_[who] * (best == 0 ? clearly : 1) < agreed_[best]) best = who;
  }
  verdict_ = best;
  const bool moved =
      before > 0 && agreed_[last] > 0 && (agreed_[last] > changed * before || before > changed * agreed_[last]);
  for (std::size_t who = 1; who < candidates_; ++who) {
    active_[who] = moved || agreed_[who] == 0 || agreed_[who] < hopeless * agreed_[best];
  }
  // Trials that would cost too much wait until there is more time to be a share of.
  double next_costs = 0;
  for (std::size_t who = 1; who < candidates_; ++who) {
    if (active_[who] && who != verdict_) next_costs += repeats * std::max(0.0, agreed_[who] - agreed_[0]);
  }
  const bool affordable = all[most_candidates + 1] + next_costs <= budget_.share * all[most_candidates];
  if (!affordable) {
    for (std::size_t who = 1; who < candidates_; ++who) active_[who] = false;
  }
  interval_ = moved || verdict_ != last ? first_interval : std::min(2 * interval_, longest_interval);
  until_round_ = interval_;
  round_ = {};
  step_ = 0;
}

}  // namespace quadrille::learn
