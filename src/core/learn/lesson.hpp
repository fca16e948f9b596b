#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "learn/credit.hpp"

namespace quadrille::learn {

// What is learned about one case on one communicator from the program's own calls: which of a few candidates takes the
// least time. Candidate 0 is the MPI's own function.
//
// Most calls are run by the candidate that was found best. At call numbers that follow from their count alone, a round
// of trials has the others run some, and at its end the ranks agree: each number of word() is combined by the maximum
// over all ranks, and agree() is called with the result. So what runs a call depends only on the number of the call and
// on what was agreed, and every rank comes to the same. Not thread-safe.
class Lesson {
 public:
  static constexpr std::size_t most_candidates = 6;
  // That are timed together in the first round where calls overlap, and in later ones at most: each is twice as long as
  // the one before.
  static constexpr std::size_t calls_in_a_row = 8;
  static constexpr std::size_t most_in_a_row = 32;
  // Outside of rounds one of so many calls is timed, and fewer of those that take not much longer than a clock.
  static constexpr std::int64_t calls_to_a_sample = 16;
  static constexpr std::int64_t short_calls_to_a_sample = 64;
  // The times of all candidates; what trials have cost beyond the usual time; the time that the last agreement took and
  // to go from one candidate to the next, below zero: of that the maximum is the rank that others waited for; what
  // calls outside of rounds have taken; and how long this rank has taken to meet the others and to agree.
  using Word = std::array<double, most_candidates + 4>;

  // Whether a rank may begin a call while others are still in the one before. Then they meet before some are timed, and
  // these together, since in a row something else may be faster than alone.
  enum class Calls : std::uint8_t { apart, overlapping };

  // Starts with one of the candidates: what is expected or remembered to be best. `expected` are their times in seconds
  // by price, the MPI's own first; `share` is what trials may cost beyond the time of what was found best, and so
  // beyond the MPI's own, as a part of all time; 0: there are none.
  // `known` are times that an earlier job has measured; 0: unknown.
  Lesson(std::span<const double> expected, std::size_t start, double share, std::span<const double> known = {},
         Calls calls = Calls::apart);

  // The first round, and each one for which ranks must meet, are paid from it; it must outlive this.
  void pay_from(Credit& credit);

  // Who runs the next call.
  std::size_t next() const { return in_round() ? round_.who[step_ / repeats()] : verdict_; }
  // Whether that is a trial.
  bool on_trial() const { return in_round(); }
  // Whether its time is wanted.
  bool timed() const { return in_round() || (plain_ == 0 && is_sample()); }
  // The next call was run, if it is not timed.
  void ran() {
    if (ran_by_mpi()) return;
    count(1);
    if (credit_) credit_->count(1 + std::exchange(unpaid_, 0));
    if (until_round_ == 0) begin_round();
    look_ahead();
  }
  // Whether the next call is one of many that the MPI's own function runs, with nothing else to do; then it was run.
  bool ran_by_mpi() {
    if (plain_ == 0) return false;
    --plain_;
    return true;
  }
  // The same as ran() of one that is timed: it took so long on this rank.
  void ran(double seconds);

  // Whether the ranks must agree before the next call.
  bool must_agree() const { return round_.length > 0 && step_ == round_.length; }
  // Whether they must wait for each other, so that the next calls don't meet those before.
  bool must_meet() const {
    const std::size_t of_candidate = in_round() ? step_ % repeats() : 0;
    return meets_ && of_candidate == 1;
  }
  // That took so long on this rank.
  void met(double seconds) { met_ += seconds; }
  // Seconds of the last round in which the ranks met, as they agreed on; 0: there was none yet.
  double cost() const { return cost_; }
  Word word() const;
  // Which took so long on this rank.
  void agree(const Word& all, double seconds);

  std::size_t candidates() const { return candidates_; }
  // The candidate that runs calls outside of rounds.
  std::size_t verdict() const { return verdict_; }
  // The time of a candidate as it was last agreed on; 0: not yet.
  double seconds(std::size_t candidate) const { return agreed_[candidate]; }
  // Whether the verdict is by what was measured in this job, of the MPI's own function and of another candidate.
  bool compared() const;
  std::int64_t calls() const { return calls_ - plain_; }
  // Of them, those that a candidate of ours ran.
  std::int64_t replaced() const { return replaced_ + (verdict_ != 0 ? by_verdict_ : 0); }
  // By what was agreed: what the calls so far would have taken by the MPI's own function, beyond what they took.
  double saved() const { return saved_ + static_cast<double>(by_verdict_) * gain_of(verdict_); }
  std::int64_t agreements() const { return agreements_; }

  // Another verdict, and the number of calls before it.
  struct Change {
    std::int64_t calls = 0;
    std::uint8_t verdict = 0;
  };
  static constexpr std::size_t most_changes = 8;
  // The last ones, oldest first.
  std::span<const Change> changes() const { return {changes_.data(), changes_count_}; }

 private:
  // Trials: a few calls of each candidate in turn. The first of them is not timed: it may build a schedule, connect
  // ranks, and wait for those that are still in the call before. The others are timed: twice, of which the shorter time
  // counts, or many of them together.
  struct Round {
    std::array<std::uint8_t, most_candidates> who = {};
    std::size_t length = 0;  // calls; 0: none is under way
  };

  std::size_t repeats() const { return 1 + (meets_ ? part_ : 2); }
  std::size_t candidates_in_round() const { return round_.length / repeats(); }
  bool in_round() const { return step_ < round_.length; }
  std::int64_t calls_to_next_sample() const {
    constexpr double is_short = 5e-6;
    const bool many = calls_ > 1024 && agreed_[verdict_] < is_short;
    const std::int64_t each = many ? short_calls_to_a_sample : calls_to_a_sample;
    return (each - calls_ % each) % each;
  }
  bool is_sample() const { return calls_to_next_sample() == 0; }
  void count(std::int64_t calls) {
    calls_ += calls;
    by_verdict_ += calls;
    until_round_ -= calls;
  }
  // The calls that MPI's own function runs until there is something to do again are counted in advance, the same on
  // every rank: a program may make them every fraction of a microsecond. Rounds are paid from them when they were made.
  void look_ahead() {
    if (verdict_ != 0 || round_.length > 0) return;
    plain_ = plain_calls();
    unpaid_ += plain_;
    count(plain_);
  }
  std::int64_t plain_calls() const;
  double switching() const;
  double gain_of(std::size_t who) const { return agreed_[who] > 0 && agreed_[0] > 0 ? agreed_[0] - agreed_[who] : 0; }
  bool must_wait();
  void begin_round();
  void combine(const Word& all);
  double clearly() const;
  double doubts(std::size_t who) const;
  bool settle();
  bool found_slower(std::size_t who) const;
  void forget_accidents(const Word& all);
  void note_change();
  bool admit(bool moved, double spent);
  std::int64_t calls_that_pay(double agreement) const;
  double expected(std::size_t who) const;
  double risk(std::size_t who) const;

  std::size_t candidates_;
  std::size_t part_;  // calls that are timed together
  bool meets_;
  double share_;
  Credit* credit_ = nullptr;
  std::size_t verdict_;
  std::int64_t plain_ = 0;   // calls to come that are counted already, in calls_ and by_verdict_, too
  std::int64_t unpaid_ = 0;  // and that the credit does not know yet
  std::int64_t calls_ = 0;
  std::int64_t by_verdict_ = 0;  // outside of rounds, since the last agreement
  std::int64_t replaced_ = 0;    // until the last agreement
  double saved_ = 0;             // likewise
  double total_ = 0;             // likewise: seconds of all calls, by what was agreed
  std::int64_t agreements_ = 0;
  std::array<Change, most_changes> changes_ = {};
  std::size_t changes_count_ = 0;
  std::array<int, most_candidates> given_up_ = {};  // for the MPI's own, so many times
  std::int64_t until_round_;                        // calls
  std::int64_t interval_;
  bool surprised_ = false;  // by what was last agreed on
  Round round_;
  std::size_t step_ = 0;                               // in the round
  std::array<double, most_candidates> expected_ = {};  // by price
  std::array<bool, most_candidates> active_ = {};      // takes part in the next round
  double sum_ = 0;                                     // seconds of the calls of a part so far
  std::array<double, most_candidates> least_ = {};   // in this round, on this rank: nobody waited for one that is late
  std::array<double, most_candidates> first_ = {};   // of a candidate, likewise
  std::array<double, most_candidates> agreed_ = {};  // 0: unknown
  std::array<bool, most_candidates> measured_ = {};  // in this job
  std::array<double, most_candidates> usual_ = {};   // agreed on, of calls outside of rounds; 0: unknown
  double sampled_ = 0;                               // seconds of them since the last agreement, on this rank
  int samples_ = 0;
  double agreement_ = 0;  // seconds of the last one, on this rank
  double met_ = 0;        // seconds of meetings since then, on this rank
  double cost_ = 0;
  std::optional<double> paid_;  // seconds, for this round
  double excess_ = 0;           // of trials, beyond the usual time
};

}  // namespace quadrille::learn
