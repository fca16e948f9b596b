#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace quadrille::measure {

// What a rank is told to do next.
struct Instruction {
  std::int32_t variant = -1;  // none: the cell is done
  std::int32_t calls = 1;
  std::int32_t root = 0;
  std::int32_t sync = 0;  // in place of a call: compare the clocks
  double start = 0;       // when, by the common clock
  double delay = 0;       // seconds put in behind each call, on purpose
};

// What it has to tell afterwards, by the common clock.
struct Timing {
  double arrived = 0;  // ready to start
  double began = 0;    // behind the wait for the start
  double ended = 0;
  double refused = 0;  // 1: the variant can't serve this cell
};

// When a cell is done.
struct Goal {
  double precision = 0.05;  // half the width of the interval of every median, relative to it
  double seconds = 1;       // for each variant
  int least = 9;            // repeats
  int most = 500;
};

// How a cell is measured.
struct CellOptions {
  // A repeat of the fastest variant lasts at least so long: short calls are repeated within it. All variants alike,
  // since what it takes to start a repeat is shared by its calls.
  double least_repeat = 0;
  // Where ranks may run ahead, calls back to back overlap: each repeat is one call.
  bool one_call = false;
  bool rooted = false;
  // A rank that begins late was disturbed. Where cores are shared, waking up takes time, and that is part of it.
  bool own_cores = false;
};

// One collective with one size: which variant is measured next, how often, and when that is enough. Every round has one
// repeat of every variant, in random order and with one root, so that whatever slows the machine down for a while hits
// all of them alike. A few roots, spread over the ranks, take turns.
// Lives on rank 0; the ranks do as they are told.
class Cell {
 public:
  struct Variant {
    std::string refusal;          // why it can't serve this cell
    std::vector<double> seconds;  // of a call, one a round
    std::vector<double> probes;   // the same before the first round
    std::int64_t discarded = 0;
    bool usable = true;

    double half_width() const;
    // Seconds of a call, by what was seen before the first round.
    double probed() const;
  };

  Cell(int variants, int ranks, Goal goal, CellOptions options, std::uint64_t seed);

  // `now` by the common clock; `pause` before the start, at least.
  Instruction next(double now, double pause);
  // What came of it, by all ranks.
  void record(std::span<const Timing> timings, const std::string& refusal);

  const std::vector<Variant>& variants() const { return variants_; }
  int rounds() const { return rounds_; }
  // Of a repeat.
  int calls() const { return calls_; }
  // Ended, since somebody was late time and again.
  bool given_up() const;
  bool settled(const Variant& variant) const { return variant.half_width() <= goal_.precision; }
  // The widest interval.
  double half_width() const;

 private:
  bool enough(double now) const;
  void begin_round();
  void end_round();
  bool disturbed(double began, double ended) const;
  int calls_for_all() const;

  Goal goal_;
  CellOptions options_;
  std::vector<std::int32_t> roots_;
  std::mt19937_64 random_;
  std::vector<Variant> variants_;
  std::vector<std::int32_t> order_;  // of the round under way, the next one last
  int warm_ups_ = 0;                 // rounds that meet each root once
  int probes_ = 0;                   // rounds that only look how long a call takes
  int rounds_ = 0;
  int calls_ = 1;
  int late_in_a_row_ = 0;
  int disturbed_in_a_row_ = 0;
  double slack_;  // between the order and the start
  double began_ = 0;
  double issued_at_ = 0;
  Instruction last_;
};

}  // namespace quadrille::measure
