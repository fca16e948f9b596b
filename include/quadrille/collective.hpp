#pragma once

#include <cstdint>

namespace quadrille {

/// The collectives, as MPI names them.
enum class Collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan
};
/// The number of enumerators of Collective.
inline constexpr int collectives = 17;

}  // namespace quadrille
