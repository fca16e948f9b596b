#pragma once

#include <mpi.h>

#include <quadrille/error.hpp>
#include <string_view>

namespace quadrille::interpose {

// Prints a line to stderr as the command does. Never throws: stderr may be closed, or on a full disk.
void say(std::string_view text) noexcept;

// Prints the error, and calls the communicator's error handler. Returns what the call is to return.
int report_error(MPI_Comm comm, int code, const char* text);

// Whether MPI finds the same fault with the arguments before it communicates: then its own call is to report it.
bool is_for_mpi_to_report(const Error& error);

}  // namespace quadrille::interpose
