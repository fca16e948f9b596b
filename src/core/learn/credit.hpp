#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace quadrille::learn {

// What the calls of a communicator take as the program makes them, and what one must pay of that. Ranks that need not
// wait for each other in a bcast may be far apart: a call takes much less than one that is timed after they have met,
// and to meet may take much longer than the calls that are timed. Only what the ranks agree on goes in, so that all
// come to the same.
class Credit {
 public:
  // Nothing is known, and everything may be paid.
  Credit() = default;
  // So many calls took so long. Rounds may take that share of all time. One costs as much as a context at least, and
  // the next one perhaps what another has cost on this machine.
  Credit(std::int64_t calls, double seconds, double context, double share, double another = 0)
      : each_(seconds / static_cast<double>(std::max<std::int64_t>(calls, 1))),
        share_(share),
        least_(context),
        next_(std::clamp(another, context, dearer * context)),
        calls_(calls) {}

  void count(std::int64_t calls) { calls_ += calls; }
  // Seconds that a call takes; 0: unknown.
  double each() const { return each_; }
  // What is paid for a round, in seconds, if there is enough. `meeting`: ranks must meet for it, which may take longer
  // than the least.
  std::optional<double> pay(bool meeting) {
    const double price = meeting ? next_ : least_;
    if (calls_to_pay(price) > 0) return std::nullopt;
    paid_ += price;
    return price;
  }
  // What a round in which ranks met has cost in truth, that was paid so, and so may the next one. A rank that was late
  // for another reason is not to end all trials.
  double has_cost(double paid, double seconds) {
    const double cost = std::clamp(seconds, least_, dearer * std::max(paid, least_));
    paid_ += cost - paid;
    next_ = cost;
    return cost;
  }
  // Calls until there is enough.
  std::int64_t calls_left(bool meeting) const { return calls_to_pay(meeting ? next_ : least_); }

 private:
  static constexpr double dearer = 4;  // times, at most, from one round to the next

  std::int64_t calls_to_pay(double price) const {
    if (each_ <= 0) return 0;
    constexpr double most = 1e9;
    const double needed = std::min((paid_ + price) / (share_ * each_), most);
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(needed) - calls_);
  }

  double each_ = 0;
  double share_ = 1;
  double least_ = 0;  // seconds of a round
  double next_ = 0;   // likewise
  double paid_ = 0;   // seconds, of all rounds
  std::int64_t calls_ = 0;
};

}  // namespace quadrille::learn
