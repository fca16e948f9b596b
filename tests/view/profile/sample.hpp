#pragma once

#include "profile/profile.hpp"

namespace quadrille::profile {

// Of a made-up run: two collectives on three kinds of communicators, two learned cases.
inline Profile sample() {
  Profile profile;
  profile.program = "/usr/bin/lmp -in read.in";
  profile.mpi = "Open MPI v4.1.4";
  profile.host = "node0";
  profile.date = "2026-11-17 12:00:00 UTC";
  profile.ranks = 32;
  profile.nodes = 8;
  profile.peak_bytes = 3 << 20;
  profile.wall_seconds = 20;
  profile.communicators = {{"MPI_COMM_WORLD", 32, 1}, {"row", 4, 8}, {"", 16, 2}};
  profile.calls = {{"allreduce", "1-64 B", 0, 32000, 30000, 256000, 3, 2.5, 4},
                   {"allreduce", "1-64 B", 1, 3200, 0, 25600, 0.5, 0, 0.6},
                   {"allreduce", "to 4 MiB", 2, 320, 320, 320 << 20, 1.5, 1.5, 1.7},
                   {"bcast", "to 1 KiB", 0, 640, 0, 640 << 10, 1, 0, 1.25}};
  profile.collectives = {{"bcast", 1, 1.25}, {"allreduce", 5, 6.3}};
  profile.algorithms = {{"allreduce", "recursive_doubling", 30000}, {"allreduce", "ring", 320}};
  profile.passed = {{"allreduce", "the first calls on a communicator", 5200}, {"bcast", "not selected", 640}};
  profile.learned = {
      {"MPI_COMM_WORLD",
       32,
       8,
       "allreduce",
       8,
       64,
       1000,
       940,
       "hierarchical",
       78e-6,
       150e-6,
       {{"native", 150e-6}, {"hierarchical", 78e-6}, {"recursive_doubling", 180e-6}},
       {{7, "hierarchical"}, {120, "native"}, {152, "hierarchical"}},
       0.068,
       "price"},
      {"row", 4, 1, "bcast", 1024, 1024, 20, 0, "native", 12e-6, 12e-6, {{"binomial", 20e-6}}, {}, 0, "native"}};
  return profile;
}

}  // namespace quadrille::profile
