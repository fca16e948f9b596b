#pragma once

#include <mpi.h>

#include <string>

namespace quadrille::bench {

// Measures the numbers of this machine's model, and writes them to a file; empty: the one that is looked for here.
// `seconds` are those of each measurement. Collective; returns the exit status.
int probe(MPI_Comm comm, const std::string& file, double seconds);

}  // namespace quadrille::bench
