#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

namespace quadrille {

/// The blocks of a v-collective: one per rank, of different lengths and one datatype. The arrays are read by the call
/// and may be changed or freed when it has returned.
struct Blocks {
  const std::int64_t* counts;         ///< number of elements of each rank's block
  const std::int64_t* displacements;  ///< of each block, in extents of the type; null: the blocks are contiguous
  MPI_Datatype type;                  ///< of the elements
};

/// The blocks of alltoallw: one per rank, each with a datatype of its own. The arrays are read by the call.
struct TypedBlocks {
  const std::int64_t* counts;         ///< number of elements of each rank's block
  const std::int64_t* displacements;  ///< of each block, in bytes
  const MPI_Datatype* types;          ///< of the elements of each block
};

/// The blocks of alltoallv_in_place: one per rank, of different lengths. The arrays are read by the call.
struct Parts {
  std::span<const std::int64_t> counts;              ///< number of elements of each rank's block
  std::span<const std::int64_t> displacements = {};  ///< of each block, in elements; empty: the blocks are contiguous
};

}  // namespace quadrille
