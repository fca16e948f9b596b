#pragma once

#include <cstdint>

namespace quadrille {

/// The collectives, by MPI's names.
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
/// How many they are.
inline constexpr int collectives = 17;

}  // namespace quadrille
