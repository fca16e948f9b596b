#pragma once

#include <vector>

namespace quadrille::measure {

// Converts local time to that of a reference clock, estimated from message exchanges. Exchanges come in bursts of a few
// milliseconds; several bursts at different times also determine the drift.
//
// All times are in seconds. Seconds since 1970 have a resolution of 0.2 µs as a double: use a later epoch.
class Clock {
 public:
  // Local time of the request, reference time of the reply, local time of its arrival.
  struct Sample {
    double local_before = 0;
    double remote = 0;
    double local_after = 0;
  };

  // Adds an exchange to the current burst.
  void add(Sample sample);
  // Ends the burst and updates the estimate from the last few bursts. Does nothing if the burst is empty.
  void settle();

  bool settled() const { return !bursts_.empty(); }
  // Before the first estimate the clock is the reference.
  double to_reference(double local) const;
  double from_reference(double reference) const;

  // Seconds that the reference gains per second of the local clock.
  double drift() const { return drift_; }
  // Half the width of the tightest bounds, in the worst burst. The error is smaller during and between the bursts,
  // unless the drift changed; after them the error of the drift adds up.
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

  // Subtracted from all samples, to keep precision if clocks are hours apart.
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
