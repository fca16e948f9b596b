#include "learn/lesson.hpp"

#include <algorithm>
#include <utility>

namespace quadrille::learn {

namespace {

constexpr std::int64_t calls_before = 1;     // the first round
constexpr std::int64_t first_interval = 32;  // calls between rounds, doubled from round to round
constexpr std::int64_t longest_interval = 128;
// What agreements may cost, of all time; and no more calls are between them than this.
constexpr double share_of_agreements = 0.008;
constexpr double share_of_meetings = 0.01;
constexpr double most_seldom = 100000;
// Times faster than what runs the calls, to be taken instead; and slower than the best, to be given up.
constexpr double faster = 1.03;
constexpr double hopeless = 1.3;
// What was taken for faster and turned out not to be has to be faster by so much more the next time, and in all, until
// so many agreements later.
constexpr double more_doubt = 0.04;
constexpr double most_doubt = 0.2;
constexpr std::int64_t doubted_for = 1024;
// Of a call's time, by which the first of a few calls in a row may differ from one of many.
constexpr double first_differs = 0.5;
// Times by which the one that runs most calls has to change for all to be tried again.
constexpr double changed = 1.3;
// Times by which a price may be wrong, and by which one may be above the MPI's own for a trial.
constexpr double doubt = 1.5;
constexpr double nearly = 1.15;
// Times by which the MPI's own may be slower than it could be; more than that, and the prices are those of another
// machine.
constexpr double clumsy = 3;
// Times slower than the MPI's own in the program's calls, which vary, to be given up.
constexpr double slower = 1.1;
constexpr double accident = 4;
// Times by which calls that are timed together may take longer than the program's own.
constexpr double of_another_kind = 2;
// Times the usual time, that a trial is taken to cost at most.
constexpr double most_excess = 10;

}  // namespace

Lesson::Lesson(std::span<const double> expected, std::size_t start, double share, std::span<const double> known,
               Calls calls)
    : candidates_(std::min(expected.size(), most_candidates)),
      part_(calls == Calls::overlapping ? calls_in_a_row : 1),
      meets_(calls != Calls::apart),
      share_(share),
      verdict_(start < candidates_ ? start : 0),
      // Without trials no call number is one that a round begins at.
      until_round_(candidates_ > 1 && share > 0 ? calls_before : 0),
      interval_(first_interval / 2) {
  std::copy_n(expected.begin(), candidates_, expected_.begin());
  std::copy_n(known.begin(), std::min(known.size(), candidates_), agreed_.begin());
  if (agreed_[0] > 0 && agreed_[verdict_] > 0) {
    // It was measured before: is it still so? Others wait for their share.
    if (until_round_ > 0) until_round_ = first_interval;
    return;
  }
  agreed_ = {};
  for (std::size_t who = 0; who < candidates_; ++who) {
    active_[who] = who == 0 || doubt * expected_[who] <= expected_[0];
  }
}

// Where calls are short, some are made by the MPI's own function first, to know what it takes in the program.
void Lesson::pay_from(Credit& credit) {
  constexpr double is_long = 1e-3;
  constexpr std::int64_t first_samples = 3;
  credit_ = &credit;
  if (credit.each() <= 0 || credit.each() >= is_long || until_round_ <= 0) return;
  active_[0] = true;
  active_[verdict_] = true;
  verdict_ = 0;
  until_round_ = (first_samples - 1) * calls_to_a_sample + 1;
}

void Lesson::ran(double seconds) {
  if (!in_round()) {
    sampled_ += seconds;
    ++samples_;
    ran();
    return;
  }
  const std::size_t who = next();
  ++calls_;
  if (who != 0) ++replaced_;
  if (credit_) credit_->count(1);
  sum_ += seconds;
  const std::size_t of_candidate = step_++ % repeats();
  if (of_candidate % part_ > 0) return;
  const auto calls = static_cast<double>(of_candidate > 0 ? part_ : 1);
  const double each = std::exchange(sum_, 0) / calls;
  if (of_candidate == 0) first_[who] = each;
  if (of_candidate > 0) least_[who] = least_[who] > 0 ? std::min(least_[who], each) : each;
  // In the first round the MPI's own comes first, and others are measured by it.
  const double usual = agreed_[verdict_] > 0 ? agreed_[verdict_] : least_[0];
  // A rank that was late for another reason is not to end all trials.
  if (who != verdict_ && usual > 0) excess_ += calls * std::clamp(each - usual, 0.0, most_excess * usual);
}

std::int64_t Lesson::plain_calls() const {
  const std::int64_t to_sample = calls_to_next_sample();
  // Where there are no trials, no call is one that a round begins after.
  return until_round_ > 0 ? std::min(to_sample, until_round_ - 1) : to_sample;
}

// Whether the round is put off. What runs by price alone is never left so.
bool Lesson::must_wait() {
  constexpr std::int64_t soon = 16;
  const bool by_price = verdict_ != 0 && agreed_[verdict_] <= 0;
  const bool may_be_dear = meets_ || agreements_ == 0;
  paid_.reset();
  if (!credit_ || !may_be_dear || by_price) return false;
  paid_ = credit_->pay(meets_);
  if (paid_) return false;
  // Calls of other cases count, too.
  until_round_ = std::max(soon, credit_->calls_left(meets_) / 2);
  return true;
}

void Lesson::begin_round() {
  if (must_wait()) return;
  round_ = {};
  step_ = 0;
  least_ = {};
  first_ = {};
  for (std::size_t who = 0; who < candidates_; ++who) {
    if (!active_[who] && who != verdict_) continue;
    round_.who[candidates_in_round()] = static_cast<std::uint8_t>(who);
    round_.length += repeats();
  }
}

// What it takes to go from one candidate to the next, beyond their calls. The first time of all it is more, but once.
double Lesson::switching() const {
  if (meets_) return 0;
  double sum = 0;
  for (std::size_t who = 0; who < candidates_; ++who) {
    if (measured_[who]) sum += std::max(0.0, first_[who] - least_[who]);
  }
  return sum;
}

Lesson::Word Lesson::word() const {
  Word word = {};
  std::copy_n(least_.begin(), candidates_, word.begin());
  word[most_candidates] = excess_;
  word[most_candidates + 1] = -(agreement_ + switching());
  word[most_candidates + 2] = samples_ > 0 ? sampled_ / samples_ : 0;
  word[most_candidates + 3] = met_ + agreement_;
  return word;
}

// Small differences are noise, and a mean of two rounds has less of it.
void Lesson::combine(const Word& all) {
  for (std::size_t who = 0; who < candidates_; ++who) {
    const double now = all[who];
    const double before = agreed_[who];
    if (now <= 0) continue;
    const bool alike = before > 0 && now < changed * before && before < changed * now;
    agreed_[who] = alike ? (now + before) / 2 : now;
    measured_[who] = true;
  }
}

bool Lesson::compared() const {
  return measured_[0] && measured_[verdict_] &&
         std::find(measured_.begin() + 1, measured_.end(), true) != measured_.end();
}

// A few calls in a row say less about many the fewer they are.
double Lesson::clearly() const {
  return faster + (meets_ ? first_differs / static_cast<double>(part_) : 0);
}

// What was given up for the MPI's own has to be faster by more before it is taken again: where the verdict goes to and
// fro, times vary by more than candidates differ.
double Lesson::doubts(std::size_t who) const {
  return std::min(more_doubt * given_up_[who], most_doubt);
}

// Whether the program's own calls say so, whatever trials say: ranks that need not wait for each other may be far
// apart, and calls that are timed after they have met then are others.
bool Lesson::found_slower(std::size_t who) const {
  if (who == 0 || usual_[0] <= 0) return false;
  return (meets_ && agreed_[0] > of_another_kind * usual_[0]) || usual_[who] > slower * usual_[0];
}

// A candidate that takes much less in a trial than it took in the program may have met a rank that was late.
void Lesson::forget_accidents(const Word& all) {
  for (std::size_t who = 1; who < candidates_; ++who) {
    if (who != verdict_ && all[who] > 0 && usual_[who] > accident * all[who]) usual_[who] = 0;
  }
}

// Whether another candidate was found best.
bool Lesson::settle() {
  const std::size_t last = verdict_;
  // Of what was not timed nothing is known.
  if (agreed_[verdict_] <= 0) verdict_ = 0;
  for (std::size_t who = 1; who < candidates_; ++who) {
    const double clearer = clearly() + (who != last ? doubts(who) : 0);
    if (agreed_[who] > 0 && !found_slower(who) && agreed_[who] * clearer < agreed_[verdict_]) verdict_ = who;
  }
  if (found_slower(verdict_) || agreed_[0] < agreed_[verdict_] * clearly()) verdict_ = 0;
  if (verdict_ == 0 && last != 0) ++given_up_[last];
  if (agreements_ % doubted_for == 0) {
    for (int& times : given_up_) times /= 2;
  }
  return verdict_ != last;
}

void Lesson::note_change() {
  if (changes_count_ == most_changes) {
    std::rotate(changes_.begin(), changes_.begin() + 1, changes_.end());
    --changes_count_;
  }
  changes_[changes_count_++] = {calls_, static_cast<std::uint8_t>(verdict_)};
}

// What a candidate is expected to take. Prices of another machine are wrong by a factor, which is what MPI's own
// function shows, unless what was measured of ours shows less.
double Lesson::expected(std::size_t who) const {
  double factor = expected_[0] > 0 ? std::max(1.0, agreed_[0] / (clumsy * expected_[0])) : 1;
  for (std::size_t other = 1; other < candidates_; ++other) {
    if (agreed_[other] > 0 && expected_[other] > 0) factor = std::min(factor, agreed_[other] / expected_[other]);
  }
  return factor * expected_[who];
}

// Seconds that the trials of a candidate may cost beyond the time of what runs most calls. A time of the MPI's own that
// is far above its price may have been an accident, and must not keep it from being tried again.
double Lesson::risk(std::size_t who) const {
  if (who == verdict_) return 0;
  const double priced = doubt * expected(who);
  const double most = agreed_[who] <= 0 ? priced : who == 0 ? std::min(agreed_[who], priced) : agreed_[who];
  return static_cast<double>(repeats()) * std::max(0.0, most - agreed_[verdict_]);
}

// Who takes part in the next round: those that may be best, and the MPI's own, as far as there is time to be a share
// of. Returns whether any was never tried.
bool Lesson::admit(bool moved, double spent) {
  bool any_new = false;
  double left = share_ * total_ - spent;
  for (std::size_t who = 0; who < candidates_; ++who) {
    const bool known = agreed_[who] > 0;
    const bool may_be_best = known ? agreed_[who] < hopeless * agreed_[verdict_] : expected(who) <= nearly * agreed_[0];
    active_[who] = (moved || may_be_best || who == 0) && risk(who) <= std::max(0.0, left);
    if (active_[who]) left -= risk(who);
    any_new |= active_[who] && !known;
  }
  return any_new;
}

// How many calls a round is a small part of that takes so long, beyond its calls. Those that overlapped until the ranks
// met begin anew.
std::int64_t Lesson::calls_that_pay(double agreement) const {
  const double each = usual_[verdict_] > 0 ? std::min(usual_[verdict_], agreed_[verdict_]) : agreed_[verdict_];
  if (each <= 0) return 0;
  const auto meetings = static_cast<double>(1 + candidates_in_round());
  const double calls = meets_ ? meetings * (agreement + 2 * each) / (share_of_meetings * each)
                              : agreement / (share_of_agreements * each);
  return static_cast<std::int64_t>(std::clamp(calls, 0.0, most_seldom));
}

void Lesson::agree(const Word& all, double seconds) {
  ++agreements_;
  agreement_ = seconds;
  met_ = 0;
  if (paid_ && meets_) cost_ = credit_->has_cost(*paid_, all[most_candidates + 3]);
  paid_.reset();
  if (all[most_candidates + 2] > 0) usual_[verdict_] = all[most_candidates + 2];
  sampled_ = 0;
  samples_ = 0;
  forget_accidents(all);
  const double before = agreed_[verdict_];
  combine(all);
  const auto repeated = static_cast<double>(repeats());
  for (std::size_t i = 0; i < candidates_in_round(); ++i) {
    total_ += repeated * agreed_[round_.who[i]];
    saved_ += repeated * gain_of(round_.who[i]);
  }
  total_ += static_cast<double>(by_verdict_) * agreed_[verdict_];
  saved_ += static_cast<double>(by_verdict_) * gain_of(verdict_);
  if (verdict_ != 0) replaced_ += by_verdict_;
  by_verdict_ = 0;
  const double now = agreed_[verdict_];
  const bool moved = before > 0 && (now > changed * before || before > changed * now);
  const std::size_t last = verdict_;
  const bool another = settle();
  if (another) note_change();
  const bool any_new = admit(moved, all[most_candidates]);
  // What was best until now may have had an accident: it is tried once more, whatever that costs.
  if (moved && another && !surprised_) active_[last] = true;
  // What has changed, or may be faster, is looked at at once, unless the ranks would have to meet for it; what changes
  // all the time is noise.
  const bool surprised = (moved || another) && !surprised_;
  surprised_ = moved || another;
  interval_ = surprised ? first_interval : std::min(2 * interval_, longest_interval);
  const std::int64_t seldom = calls_that_pay(-all[most_candidates + 1]);
  const bool at_once = !meets_ && ((surprised && moved) || any_new);
  until_round_ = at_once ? 1 : std::max(interval_, seldom);
  if (meets_) part_ = std::min(2 * part_, most_in_a_row);
  round_ = {};
  step_ = 0;
  look_ahead();
}

}  // namespace quadrille::learn
