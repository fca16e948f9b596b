#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <quadrille/quadrille.hpp>
#include <random>
#include <string>
#include <vector>

#include "bench/buffers.hpp"
#include "bench/clocks.hpp"
#include "bench/exercise.hpp"
#include "measure/bench_options.hpp"
#include "measure/cell.hpp"
#include "measure/report.hpp"

namespace quadrille::bench {

// A way to run a collective: the MPI's own, or an algorithm of ours.
struct Candidate {
  std::string name;
  bool ours = false;
  std::string algorithm = {};  // of ours; empty: the library chooses
  double delay = 0;            // put in on purpose, relative to native's time
  std::optional<std::int64_t> steps = std::nullopt;
};

// What is known of the place it runs in.
struct Place {
  int rank = 0;
  int ranks = 1;
  int nodes = 1;
  int neighbours = 1;            // ranks of this node
  double cores = 1;              // that a node may keep busy
  double rate_bits = 0;          // of a node's link; 0: unknown
  double uplink_bits = 0;        // of a rack's
  bool oversubscribed = false;   // on some node
  double clock_uncertainty = 0;  // seconds; of the node where it is worst
};

// The cells that the options select, one after another. Made and run by all ranks together.
class Session {
 public:
  Session(MPI_Comm comm, const measure::BenchOptions& options);

  const Place& place() const { return place_; }
  // What our algorithms run on.
  const engine::Context& measured() const { return *measured_; }
  // What was measured, without provenance; on rank 0, elsewhere nothing. What can't be measured is reported on standard
  // error.
  measure::Report run();
  // All that was asked for was measured. On rank 0.
  bool complete() const { return complete_; }

 private:
  // One cell as all ranks see it.
  struct Scene {
    const Exercise& exercise;
    const std::vector<Candidate>& variants;
    Buffers buffers;
    std::string refusal = {};  // of the last variant that could not serve it
  };

  std::vector<Candidate> variants(const Exercise& exercise) const;
  measure::CellOptions cell_options(Collective collective) const;
  void add_points(const Exercise& exercise, const std::vector<Candidate>& ways, const measure::Cell& cell,
                  measure::Report& report);
  void miss(const std::string& why);
  void run_cell(const Exercise& exercise, measure::Report& report);
  measure::Instruction next(measure::Cell& cell, const std::vector<Candidate>& variants);
  measure::Timing perform(Scene& scene, const measure::Instruction& instruction);
  void call(Scene& scene, const measure::Instruction& instruction);
  void show_progress(const Exercise& exercise, const measure::Cell& cell);

  MPI_Comm comm_;
  const measure::BenchOptions& options_;
  Communicator control_;                       // what ranks tell each other
  std::shared_ptr<engine::Context> measured_;  // what our algorithms run on
  Clocks clocks_;
  Place place_;
  std::vector<Exercise> exercises_;
  bool complete_ = true;
  double late_ = 0;  // seconds at most that this rank is late, on purpose
  std::mt19937_64 lateness_;
  double synced_at_ = 0;
  double shown_at_ = 0;
  std::size_t cells_done_ = 0;
};

// Seconds that a node's link needs at least, for the bytes that must cross it; none where nothing must, or no rate is
// known.
std::optional<double> floor_of(Collective collective, std::int64_t bytes, const Place& place);

}  // namespace quadrille::bench
