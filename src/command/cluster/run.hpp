#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cluster/mapping.hpp"
#include "cluster/state.hpp"
#include "launch/mpi.hpp"
#include "launch/preload.hpp"

namespace quadrille::cluster {

// A program to run on the nodes of a cluster.
struct Job {
  launch::Mpi mpi = launch::Mpi::openmpi;
  std::filesystem::path launcher;
  Mapping mapping;
  std::vector<std::string> program;  // with its arguments
  launch::Variables variables;       // for the ranks, not for the launcher
};

// Runs it and returns its exit status. When it or this process ends, all its processes are gone.
int run_job(const State& state, const Job& job);

}  // namespace quadrille::cluster
