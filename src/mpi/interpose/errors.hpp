#pragma once

#include <mpi.h>

#include <quadrille/error.hpp>

namespace quadrille::interpose {

// Prints the error, and calls the communicator's error handler. Returns what the call is to return.
int report_error(MPI_Comm comm, int code, const char* text);

// Whether MPI finds the same fault with the arguments before it communicates: then its own call is to report it.
bool is_for_mpi_to_report(const Error& error);

}  // namespace quadrille::interpose
