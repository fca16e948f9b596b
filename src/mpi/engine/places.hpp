#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/mpi.hpp"
#include "topology/places.hpp"

namespace quadrille::engine {

// Of this process: its host, and the file that QUADRILLE_RACKS names. Throws Error if that can't be read.
Place own_place();

// The name that this file gives to the rack of this host; empty: none.
std::string own_rack();

// Of an intercommunicator: those of this rank's group, or of the other one.
enum class Members : std::uint8_t { own, remote };
// Where a communicator's members are in MPI_COMM_WORLD; MPI_UNDEFINED: in another one.
std::vector<int> ranks_in_world(MPI_Comm comm, Members members = Members::own);

// Ranks in MPI_COMM_WORLD, by rank; none if one of them is not in it.
std::vector<std::int32_t> processes_of(MPI_Comm comm);

}  // namespace quadrille::engine
