#pragma once

#include <mpi.h>

#include "measure/clock.hpp"

namespace quadrille::bench {

// One clock for all ranks: that of rank 0. Each node has its own; messages between the nodes tell how they differ.
class Clocks {
 public:
  // Collective, as is sync.
  explicit Clocks(MPI_Comm comm);
  Clocks(const Clocks&) = delete;
  Clocks& operator=(const Clocks&) = delete;
  ~Clocks();

  // Compares the clocks anew. They drift apart: to be called every few seconds.
  void sync();

  // Seconds, the same on all ranks but for uncertainty().
  double now() const { return to_reference(local()); }
  double uncertainty() const { return uncertainty_; }
  // Returns at that time, or at once if it is over. Spins if the rank has a core of its own, else sleeps.
  void wait_until(double time, bool own_core) const;

  int nodes() const { return nodes_; }
  // On this node.
  int neighbours() const { return neighbours_; }

 private:
  // reference = reference_origin + (local - local_origin) * speed
  struct Line {
    double local_origin = 0;
    double reference_origin = 0;
    double speed = 1;
  };

  static double local();
  double to_reference(double local) const {
    return line_.reference_origin + (local - line_.local_origin) * line_.speed;
  }
  double from_reference(double time) const {
    return line_.local_origin + (time - line_.reference_origin) / line_.speed;
  }
  void ask();
  void answer(int leader) const;

  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Comm leaders_ = MPI_COMM_NULL;  // one rank of each node
  int nodes_ = 1;
  int neighbours_ = 1;
  measure::Clock clock_;  // of a leader
  Line line_;
  double uncertainty_ = 0;
};

}  // namespace quadrille::bench
