#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cluster/mapping.hpp"
#include "cluster/state.hpp"
#include "launch/mpi.hpp"

namespace quadrille::cluster {

// What it takes to start a program on the nodes of a cluster.
struct Job {
  launch::Mpi mpi = launch::Mpi::openmpi;
  std::filesystem::path launcher;
  Mapping mapping;
  std::vector<std::string> program;  // with its arguments
};

// Runs it to its end and returns its exit status. When it ends, or this process does, nothing of it is left.
int run_job(const State& state, const Job& job);

}  // namespace quadrille::cluster
