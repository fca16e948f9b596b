#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "algorithms/collective.hpp"
#include "engine/context.hpp"

namespace quadrille::interpose {

// The drop-in's state: which collectives it serves, and the communicators it has seen. There is one, which lives from
// MPI_Init to MPI_Finalize; outside it everything is handed down.
class DropIn {
 public:
  static DropIn& get();

  // After MPI_Init. Collective over MPI_COMM_WORLD: rank 0's environment counts for all.
  void begin();
  // Before MPI_Finalize: writes the statistics that were asked for.
  void end();

  // The communicator's context, made at the first call; null if the collective is to be handed down. In a call that
  // all ranks of the communicator make.
  engine::Context* context(Collective collective, MPI_Comm comm);

  void count(Collective collective, bool served);
  // Calls of this rank so far.
  std::int64_t served(Collective collective) const { return counts_[static_cast<std::size_t>(collective)].served; }

 private:
  struct Count {
    std::atomic<std::int64_t> served = 0;
    std::atomic<std::int64_t> handed_down = 0;
  };

  static int forget(MPI_Comm, int, void* context, void*);
  static bool within_world(MPI_Comm comm);
  bool can_serve(MPI_Comm comm) const;
  engine::Context* first_seen(MPI_Comm comm);

  bool active_ = false;
  engine::Settings settings_;
  int key_ = MPI_KEYVAL_INVALID;
  std::atomic<int> served_communicators_ = 0;
  std::array<Count, collectives> counts_{};
};

}  // namespace quadrille::interpose
