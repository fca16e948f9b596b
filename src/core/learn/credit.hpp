#pragma once

#include <algorithm>
#include <cstdint>

namespace quadrille::learn {

// What the calls of a communicator take as the program makes them, and what one must pay of that. Ranks that need not
// wait for each other in a bcast may be far apart, and a call takes much less than one that is timed after they have
// met. Only what the ranks agree on goes in, so that all come to the same.
class Credit {
 public:
  // Nothing is known, and everything may be paid.
  Credit() = default;
  // So many calls took so long; a round, which may take that share of all time, is taken to cost as much as a context.
  Credit(std::int64_t calls, double seconds, double context, double share)
      : each_(seconds / static_cast<double>(std::max<std::int64_t>(calls, 1))),
        paid_by_(context / share),
        calls_(calls) {}

  void count() { ++calls_; }
  // Seconds that a call takes; 0: unknown.
  double each() const { return each_; }
  // Whether there is enough for a round, which then is paid.
  bool pay() {
    if (calls_left() > 0) return false;
    ++rounds_;
    return true;
  }
  // Calls until there is enough.
  std::int64_t calls_left() const {
    if (each_ <= 0) return 0;
    constexpr double most = 1e9;
    const double needed = std::min(static_cast<double>(rounds_ + 1) * paid_by_ / each_, most);
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(needed) - calls_);
  }

 private:
  double each_ = 0;
  double paid_by_ = 0;  // seconds in calls, a round
  std::int64_t calls_ = 0;
  std::int64_t rounds_ = 0;
};

}  // namespace quadrille::learn
