#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <quadrille/quadrille.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/buffers.hpp"
#include "bench/candidates.hpp"
#include "bench/clocks.hpp"
#include "bench/exercise.hpp"
#include "bench/place.hpp"
#include "measure/bench_options.hpp"
#include "measure/cell.hpp"
#include "measure/noise.hpp"
#include "measure/progress.hpp"
#include "measure/report.hpp"

namespace quadrille::bench {

// The cells that the options select, one after another. Made and run by all ranks together.
class Session {
 public:
  Session(MPI_Comm comm, const measure::BenchOptions& options);

  const Place& place() const { return place_; }
  // What our algorithms run on.
  const engine::Context& measured() const { return *measured_; }
  // Of a table of all that will be measured.
  measure::TableColumns columns() const;

  // What is called on rank 0 when a cell has been measured, with its points, which are the last of the report.
  using CellDone = std::function<void(std::span<const measure::Point>)>;
  // Measures all cells and adds their points to the report of rank 0, whose provenance it brings up to date. What can't
  // be measured is reported on standard error.
  void run(measure::Report& report, const CellDone& cell_done);
  // All that was asked for was measured. On rank 0.
  bool complete() const { return complete_; }

 private:
  // A collective with a size, and what it is run by.
  struct Task {
    Exercise exercise;
    std::vector<Candidate> variants;
  };
  // One cell as all ranks see it.
  struct Scene {
    const Task& task;
    Buffers buffers;
    std::string refusal = {};  // of the last variant that could not serve it
  };

  measure::CellOptions cell_options(const Task& task) const;
  std::vector<measure::Point> points_of(const Task& task, const measure::Cell& cell,
                                        std::span<const std::string> twins);
  std::vector<measure::RankLoad> load_of_ranks();
  void judge_machine(measure::Report& report);
  bool share_out_time();
  void miss(const std::string& why);
  void compare_uncertainties();
  std::vector<measure::Point> run_cell(const Task& task);
  measure::Instruction next(measure::Cell& cell, const std::vector<Candidate>& variants);
  measure::Timing perform(Scene& scene, const measure::Instruction& instruction);
  void call(Scene& scene, const measure::Instruction& instruction);
  void show_progress(const Task& task, const measure::Cell& cell);
  void clear_progress() const;

  MPI_Comm comm_;
  const measure::BenchOptions& options_;
  Communicator control_;                       // what ranks tell each other
  std::shared_ptr<engine::Context> measured_;  // what our algorithms run on
  Clocks clocks_;
  Place place_;
  std::vector<Task> tasks_;
  measure::Goal goal_;  // of the next cell
  measure::Progress progress_;
  bool complete_ = true;
  double late_ = 0;  // seconds at most that this rank is late, on purpose
  std::mt19937_64 lateness_;
  double synced_at_ = 0;
  double shown_at_ = 0;
  std::vector<measure::RankLoad> load_before_;  // on rank 0: when the run began
  std::vector<measure::RankLoad> load_now_;     // after the last cell
  double began_ = 0;
  std::size_t warned_ = 0;
};

}  // namespace quadrille::bench
