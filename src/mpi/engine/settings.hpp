#pragma once

#include "engine/mpi.hpp"
#include "settings/settings.hpp"

namespace quadrille::engine {

// From the environment of rank 0. Collective; if it can't be read, every rank throws the same Error.
Settings agreed_settings(MPI_Comm comm);

}  // namespace quadrille::engine
