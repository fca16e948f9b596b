#include <quadrille/reordered.hpp>

#include "api/handle.hpp"
#include "engine/mpi.hpp"
#include "engine/settings.hpp"
#include "reorder/reorder.hpp"

namespace quadrille {

MPI_Comm reordered(MPI_Comm comm, std::span<const Neighbour> sends_to) {
  api::require_intracommunicator(comm);
  api::meet(comm);
  int rank = 0;
  engine::check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  reorder::Traffic traffic;
  for (const Neighbour& one : sends_to) {
    if (one.rank == MPI_PROC_NULL) continue;
    traffic.sent.push_back({rank, one.rank, 1, static_cast<double>(one.bytes)});
  }
  return reorder::renumbered(comm, reorder::new_rank(comm, traffic, engine::agreed_settings(comm).model));
}

}  // namespace quadrille
