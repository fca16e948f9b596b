#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "algorithms/collective.hpp"
#include "engine/context.hpp"
#include "interpose/outcome.hpp"
#include "interpose/report.hpp"

namespace quadrille::interpose {

// A communicator as the drop-in knows it.
struct Seen {
  engine::Context* context = nullptr;  // null: its collectives are handed down
  Outcome outcome = Outcome::served;   // why
};

// The drop-in's state: which collectives it serves, and the communicators it has seen. There is one, which lives from
// MPI_Init to MPI_Finalize; outside it everything is handed down.
class DropIn {
 public:
  static DropIn& get();

  // Before anything of MPI is called: ends the process if the program runs under another MPI than this was made for.
  static void refuse_wrong_mpi();

  // Before MPI_Init, which may have to wait already: by what this rank knows alone.
  void before_init();
  // After MPI_Init. Collective over MPI_COMM_WORLD: rank 0's environment counts for all.
  void begin();
  // Before MPI_Finalize: writes the report, if one was asked for.
  void end();

  // Whether calls of this collective are to be served where they can be, or why not.
  Outcome asked(Collective collective) const { return asked_[static_cast<std::size_t>(collective)]; }
  // Whether calls with MPI_IN_PLACE are, whatever was asked for: MPI's own take as much memory as they were to spare.
  bool asked_in_place(Collective collective) const { return in_place_[static_cast<std::size_t>(collective)]; }
  // Whether only those that the table has a rule for.
  bool by_table(Collective collective) const { return by_table_[static_cast<std::size_t>(collective)]; }

  // Whether blocking messages are to be waited for by the engine, so that ranks that share a core get it.
  bool waits() const { return waits_; }

  // The communicator's context, made at the first call, if need be without a rule of the table. In a call that all
  // ranks of the communicator make.
  Seen seen(MPI_Comm comm, bool beyond_table);

  // Null if nobody wants one.
  Report* report() { return reporting_ ? &report_ : nullptr; }

  void count(Collective collective, Outcome outcome) {
    counts_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(outcome)].fetch_add(
        1, std::memory_order_relaxed);
  }
  // Calls of this rank so far.
  std::int64_t counted(Collective collective, Outcome outcome) const {
    return counts_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(outcome)];
  }

 private:
  static constexpr std::array<Outcome, collectives> filled(Outcome outcome) {
    std::array<Outcome, collectives> all = {};
    all.fill(outcome);
    return all;
  }
  static int forget(MPI_Comm, int, void* seen, void*);
  static bool ranks_starve_each_other();
  static bool all_reach_waits_of_mpi();
  static bool within_world(MPI_Comm comm);
  static bool may_make_communicators();
  void ask(bool spinning);
  bool table_has(MPI_Comm comm) const;
  Outcome judge(MPI_Comm comm, bool beyond_table) const;
  Seen first_seen(MPI_Comm comm, bool beyond_table);

  bool active_ = false;
  std::array<Outcome, collectives> asked_ = filled(Outcome::inactive);
  std::array<bool, collectives> by_table_ = {};
  std::array<bool, collectives> in_place_ = {};
  bool beyond_table_ = false;  // some collective is served without a rule
  bool waits_ = false;
  Waits how_ = Waits::mpis;
  bool reporting_ = false;
  Report report_;
  std::string report_path_;
  engine::Settings settings_;
  int key_ = MPI_KEYVAL_INVALID;
  std::atomic<int> served_communicators_ = 0;
  Counts counts_{};
};

}  // namespace quadrille::interpose
