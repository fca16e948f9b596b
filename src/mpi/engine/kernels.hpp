#pragma once

#include "engine/mpi.hpp"
#include "run/memory.hpp"

namespace quadrille::engine {

// Our own loop for an operation of MPI's on a basic type, which writes its result where it is wanted and so spares a
// copy; null where there is none. Only where the result is MPI's to the bit, but for which of two NaNs it keeps: not
// for extremes of floating point, where MPIs choose differently between NaNs and zeros, nor of integers without a sign,
// which MPICH 4.0 compares as if they had one.
CombineFunction kernel_of(MPI_Op op, MPI_Datatype type);

}  // namespace quadrille::engine
