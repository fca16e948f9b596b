#pragma once

#include <mpi.h>

#include "survey/survey.hpp"

namespace quadrille::bench {

// Where the ranks are. Collective; the same on all of them. Throws Error, likewise, if the racks can't be read.
survey::Survey surveyed(MPI_Comm comm);

}  // namespace quadrille::bench
