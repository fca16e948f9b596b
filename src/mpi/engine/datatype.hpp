#pragma once

#include "engine/mpi.hpp"
#include "layout/layout.hpp"

namespace quadrille::engine {

// The layout of an MPI datatype, committed or not, from its envelope and contents. Keeps no handle: the type may be
// freed right after. MPI must be initialized and not finalized; the rules for threads are those of any MPI call.
//
// A predefined type takes no allocation. Any other is taken apart anew in each call, in time proportional to the
// arrays it was made from.
//
// Throws Error for MPI_DATATYPE_NULL, for a combiner that came after MPI 4.0, and if MPI reports an error.
Layout layout_of(MPI_Datatype type);

// Whether the type is one of MPI's own, which nobody can free.
bool is_predefined(MPI_Datatype type);

}  // namespace quadrille::engine
