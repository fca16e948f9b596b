#pragma once

#include <filesystem>
#include <string>

namespace quadrille::tools {

// The directory of the libraries and programs for an MPI, relative to this command: lib/quadrille/MPI. It need not
// exist.
std::filesystem::path mpi_directory(const std::string& mpi);

}  // namespace quadrille::tools
