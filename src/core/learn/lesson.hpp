#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

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
  static constexpr std::size_t most_candidates = 4;
  // The times of all candidates, all time so far, and what trials have cost beyond the MPI's own time.
  using Word = std::array<double, most_candidates + 2>;

  struct Budget {
    double share = 0.02;  // of all time: what trials may cost beyond the MPI's own time
  };

  // Starts with one of the candidates: what is expected or remembered to be best.
  Lesson(std::size_t candidates, std::size_t start, const Budget& budget);

  // Who runs the next call.
  std::size_t next() const;
  // It took so long on this rank.
  void ran(double seconds);

  // Whether the ranks must agree before the next call.
  bool must_agree() const { return step_ == round_.length && round_.length > 0; }
  Word word() const;
  void agree(const Word& all);

  // The candidate that runs calls outside of rounds.
  std::size_t verdict() const { return verdict_; }
  // The time of a candidate as it was last agreed on; 0: not yet.
  double seconds(std::size_t candidate) const { return agreed_[candidate]; }
  std::int64_t calls() const { return calls_; }
  std::int64_t agreements() const { return agreements_; }

 private:
  // Trials: a few calls of each candidate in turn. The first call that a candidate ever runs is not timed.
  struct Round {
    std::array<std::uint8_t, 2 * most_candidates> who = {};
    std::size_t length = 0;  // 0: none is under way
  };
  // The least of a few times: what a call takes if nobody waits for a rank that is late.
  struct Times {
    double least = 0;
    int count = 0;

    void add(double seconds) { least = count++ == 0 ? seconds : seconds < least ? seconds : least; }
  };

  void begin_round();

  std::size_t candidates_;
  Budget budget_;
  std::size_t verdict_;
  std::int64_t calls_ = 0;
  std::int64_t agreements_ = 0;
  std::int64_t until_round_;  // calls
  std::int64_t interval_;
  Round round_;
  std::size_t step_ = 0;                             // in the round
  std::array<bool, most_candidates> active_ = {};    // takes part in rounds
  std::array<bool, most_candidates> has_run_ = {};   // at all
  std::array<Times, most_candidates> times_ = {};    // since the last agreement, on this rank
  std::array<double, most_candidates> agreed_ = {};  // 0: unknown
  double total_ = 0;                                 // seconds of all calls, on this rank
  double excess_ = 0;                                // of trials, beyond the MPI's own time
};

}  // namespace quadrille::learn
