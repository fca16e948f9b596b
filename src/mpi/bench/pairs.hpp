#pragma once

#include <mpi.h>

#include <string>

namespace quadrille::bench {

struct PairFiles {
  std::string machine;  // empty: the machine file that is looked for here
  std::string json;     // nobody wants what is empty
  std::string svg;
};

// Measures rates and latencies between pairs of nodes and inside nodes, and adds them to the machine file. Collective;
// returns the exit status.
int probe_pairs(MPI_Comm comm, const PairFiles& files);

}  // namespace quadrille::bench
