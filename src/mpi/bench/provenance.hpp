#pragma once

#include <mpi.h>

#include "bench/session.hpp"
#include "measure/report.hpp"

namespace quadrille::bench {

// Where the numbers of a session come from. Collective; complete on rank 0.
measure::Provenance provenance_of(MPI_Comm comm, const Place& place, const std::string& label,
                                  const std::string& command);

}  // namespace quadrille::bench
