#pragma once

#include <vector>

namespace quadrille::measure {

// What another, the reference clock shows when this one shows so and so, learned from exchanges of messages. Exchanges
// come in bursts of a few milliseconds; several bursts at different times tell how fast the two drift apart, too.
//
// All times are in seconds. Seconds since 1970 leave a double only 0.2 µs: count from a more recent moment.
class Clock {
 public:
  // This clock when the question left, the reference when it answered, this clock when the answer was back.
  struct Sample {
    double local_before = 0;
    double remote = 0;
    double local_after = 0;
  };

  // Adds an exchange to the burst under way.
  void add(Sample sample);
  // Ends the burst, and learns from the last few of them. Nothing happens if the burst is empty.
  void settle();

  bool settled() const { return !bursts_.empty(); }
  // A clock that has not settled is the reference itself.
  double to_reference(double local) const;
  double from_reference(double reference) const;

  // Seconds that the reference gains in a second of this clock.
  double drift() const { return drift_; }
  // Half of what the tightest exchanges leave open, in the worst burst. The error is smaller at the times of the bursts
  // and between them, unless the drift changed; beyond them what is not known of the drift adds up.
  double uncertainty() const { return uncertainty_; }

 private:
  struct Burst {
    std::vector<Sample> samples;  // relative to the origins
    double time = 0;
    double offset = 0;
    double half_width = 0;
  };

  void find_offset(Burst& burst) const;
  void fit_line();

  // Subtracted from all samples, so that clocks hours apart cost no digits.
  double local_origin_ = 0;
  double remote_origin_ = 0;
  std::vector<Sample> samples_;
  std::vector<Burst> bursts_;
  // reference - remote_origin = local - local_origin + offset + drift * (local - local_origin)
  double offset_ = 0;
  double drift_ = 0;
  double uncertainty_ = 0;
};

}  // namespace quadrille::measure
