#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "cost/model.hpp"
#include "placement/graph.hpp"
#include "topology/places.hpp"

namespace quadrille::reorder {

// What is sent, and how its bytes are meant: as such, or in proportion to each other alone, as the weights of MPI's
// graphs. Then an average one is a message of 64 KiB, for which bytes count for more than messages.
struct Traffic {
  enum class Unit : std::uint8_t { bytes, weights };

  std::vector<placement::Sent> sent = {};
  Unit unit = Unit::bytes;
};

// The rank that this process is to have, so that ranks that send each other much are near; its own if that gains
// nothing by the model. Collective: each rank passes what it sends, or one of them what several do, in the same unit,
// and where it is.
// Throws Error, on all ranks alike, where a rank that is sent to does not exist. The model is that of rank 0, which
// decides.
int new_rank(MPI_Comm comm, const Traffic& traffic, const Place& place, const cost::Model& model);

// The same where this process says itself where it is. Throws Error also if a rank can't, on all ranks alike.
int new_rank(MPI_Comm comm, const Traffic& traffic, const cost::Model& model);

// A communicator with the ranks of another, of which this process is to have that one. Collective. The caller frees it.
MPI_Comm renumbered(MPI_Comm comm, int rank);

}  // namespace quadrille::reorder
