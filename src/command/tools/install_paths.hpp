#pragma once

#include <filesystem>
#include <string>

namespace quadrille::tools {

// Where the libraries and programs for an MPI lie, beside this command: lib/quadrille/MPI. The path where they should
// be, if they are nowhere.
std::filesystem::path mpi_directory(const std::string& mpi);

}  // namespace quadrille::tools
