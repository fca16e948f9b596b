#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "quadrille/detail/export.h"

namespace quadrille {

/// A rank that this one sends to.
struct Neighbour {
  /// A rank of the communicator; MPI_PROC_NULL: none.
  int rank = MPI_PROC_NULL;
  /// What a message to it has, about.
  std::int64_t bytes = 0;
};

/// A communicator with the ranks of `comm`, an intracommunicator, in an order in which ranks that send each other much
/// are on the same nodes and in the same racks. Each rank passes the ranks that it sends to, of which several may be
/// the same. They are numbers of the program's grid or graph, as in MPI_Dist_graph_create_adjacent: the process that is
/// returned rank r is to take over the part of the program that rank r has described. So this is for the beginning of a
/// program, before it has distributed its data.
///
/// Collective over `comm`. The order follows from the graph, from where the ranks are and from the numbers of the
/// machine (QUADRILLE_MACHINE, QUADRILLE_RACKS), which are those of rank 0; with the same of all the result is the
/// same. Where no gain of at least 2 % of the time is predicted, ranks keep their order. It takes some milliseconds for
/// tens of ranks, and up to seconds for thousands.
///
/// The communicator is the caller's, to be freed by MPI_Comm_free. It may be used for messages, and be made a
/// Communicator. Throws Error, on all ranks alike, if a neighbour does not exist.
QUADRILLE_EXPORT MPI_Comm reordered(MPI_Comm comm, std::span<const Neighbour> sends_to);

}  // namespace quadrille
