#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace quadrille::measure {

// What all ranks do next, as decided by rank 0.
struct Instruction {
  std::int32_t variant = -1;  // negative: the cell is done
  std::int32_t calls = 1;
  std::int32_t root = 0;
  std::int32_t sync = 0;  // instead of a call: synchronise the clocks
  double start = 0;       // by the global clock
  double delay = 0;       // seconds added deliberately after each call
};

// The result of a rank, by the global clock.
struct Timing {
  double arrived = 0;  // ready to start
  double began = 0;    // after waiting for the start
  double ended = 0;
  double refused = 0;  // 1: the variant can't perform this call
};

// When to stop.
struct Goal {
  double precision = 0.05;  // half the width of the confidence interval, relative to the median
  double seconds = 1;       // per variant
  int least = 9;            // repeats
  int most = 500;
  double within = 0;  // drop what takes more than so many times the fastest; 0: nothing
};

// How to measure.
struct CellOptions {
  // Minimum duration of a repeat of the fastest variant; short calls are made several times per repeat. The number of
  // calls is the same for all variants, since they share the cost of starting a repeat.
  double least_repeat = 0;
  // One call per repeat: where ranks may run ahead, consecutive calls would overlap.
  bool one_call = false;
  bool rooted = false;
  // A rank that starts late was disturbed. On oversubscribed nodes waking up is part of the time instead.
  bool own_cores = false;
  // The first variants, which are measured however slow they are.
  int kept = 1;
};

// One collective with one size: decides which variant to measure next, how often, and when to stop. A round is one
// repeat of every variant, in random order and with one root, so that disturbances of the machine affect all variants
// alike. A few roots, spread over the ranks, are used in turn. Decides on rank 0 only.
class Cell {
 public:
  struct Variant {
    std::string refusal;          // why it can't perform this call
    std::vector<double> seconds;  // per call, one per round
    std::vector<double> probes;   // the same, before the first round
    std::int64_t discarded = 0;
    double fastest = 0;  // before the first round
    bool usable = true;

    double half_width() const;
    // Seconds per call, estimated from the probes.
    double probed() const;
  };

  Cell(int variants, int ranks, Goal goal, CellOptions options, std::uint64_t seed);

  // `now` by the global clock; `pause` is the minimum before the start.
  Instruction next(double now, double pause);
  // The results of all ranks.
  void record(std::span<const Timing> timings, const std::string& refusal);

  const std::vector<Variant>& variants() const { return variants_; }
  int rounds() const { return rounds_; }
  const std::vector<std::int32_t>& roots() const { return roots_; }
  // Per repeat.
  int calls() const { return calls_; }
  // Stopped, because some rank was late again and again.
  bool given_up() const;
  bool settled(const Variant& variant) const { return variant.half_width() <= goal_.precision; }
  // The widest confidence interval.
  double half_width() const;

 private:
  bool enough(double now) const;
  void begin_round();
  void end_round();
  void drop_slow();
  bool disturbed(double began, double ended) const;
  int calls_for_all() const;

  Goal goal_;
  CellOptions options_;
  std::vector<std::int32_t> roots_;
  std::mt19937_64 random_;
  std::vector<Variant> variants_;
  std::vector<std::int32_t> order_;  // of the current round, the next one last
  int warm_ups_ = 0;                 // rounds that use each root once
  int probes_ = 0;                   // rounds that estimate the duration of a call
  int rounds_ = 0;
  int calls_ = 1;
  int late_in_a_row_ = 0;
  int disturbed_in_a_row_ = 0;
  double slack_;  // between the instruction and the start
  double began_ = 0;
  double issued_at_ = 0;
  Instruction last_;
};

}  // namespace quadrille::measure
