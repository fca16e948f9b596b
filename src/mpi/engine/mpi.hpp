#pragma once

// The engine calls MPI by its PMPI names throughout: it also runs inside a drop-in that takes the MPI names, and its
// messages are nobody else's business.
#include <mpi.h>

#include <cstdint>
#include <string>

namespace quadrille::engine {

// MPI's counts are int: what is larger is handed over in pieces.
inline constexpr std::int64_t max_int_count = 1 << 30;

// Throws Error where MPI did not say MPI_SUCCESS. `call` is the name of the function.
void check(int code, const char* call);

// This MPI's name and version, as "Open MPI v4.1.4".
std::string mpi_name();

}  // namespace quadrille::engine
