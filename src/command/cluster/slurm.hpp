#pragma once

#include "cluster/state.hpp"

namespace quadrille::cluster {

// Throws std::runtime_error with the packages to install if programs of Slurm are missing.
void require_slurm_programs();

// Starts Slurm's daemons on the nodes: they are processes of the cluster and end with it. Returns when Slurm reports
// all nodes as idle. Throws std::runtime_error with what a daemon logged last.
void start_slurm(const State& state);

}  // namespace quadrille::cluster
