#pragma once

#include <mpi.h>

#include <vector>

#include "survey/survey.hpp"

namespace quadrille::bench {

// Where each rank is. Collective; the same on all of them. Throws Error, likewise, if the racks can't be read.
std::vector<survey::Site> sites_of(MPI_Comm comm);

// Where the ranks are. Collective; the same on all of them. Throws Error, likewise, if the racks can't be read.
survey::Survey surveyed(MPI_Comm comm);

}  // namespace quadrille::bench
