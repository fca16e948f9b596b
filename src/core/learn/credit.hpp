#pragma once

#include <algorithm>
#include <cstdint>

namespace quadrille::learn {

// What the calls of a communicator take as the program makes them, and what one must pay of that. Ranks that need not
// wait for each other in a bcast may be far apart: a call takes much less than one that is timed after they have met,
// and to meet may take much longer than the calls that are timed. Only what the ranks agree on goes in, so that all
// come to the same.
class Credit {
 public:
  // Nothing is known, and everything may be paid.
  Credit() = default;
  // So many calls took so long. Rounds may take that share of all time, and the first is taken to cost `round`.
  Credit(std::int64_t calls, double seconds, double round, double share)
      : each_(seconds / static_cast<double>(std::max<std::int64_t>(calls, 1))),
        share_(share),
        least_(round),
        next_(round),
        calls_(calls) {}

  void count() { ++calls_; }
  // Seconds that a call takes; 0: unknown.
  double each() const { return each_; }
  // Whether there is enough for a round, which then is paid.
  bool pay() {
    if (calls_left() > 0) return false;
    paid_ += next_;
    return true;
  }
  // What a round that was paid has cost in truth, and so will the next one.
  void has_cost(double seconds) {
    paid_ += std::max(0.0, seconds - next_);
    next_ = std::max(least_, seconds);
  }
  // Calls until there is enough.
  std::int64_t calls_left() const {
    if (each_ <= 0) return 0;
    constexpr double most = 1e9;
    const double needed = std::min((paid_ + next_) / (share_ * each_), most);
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(needed) - calls_);
  }

 private:
  double each_ = 0;
  double share_ = 1;
  double least_ = 0;  // seconds of a round
  double next_ = 0;   // likewise
  double paid_ = 0;   // seconds, of all rounds
  std::int64_t calls_ = 0;
};

}  // namespace quadrille::learn
