#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace quadrille::launch {

enum class Mpi { openmpi, mpich };

std::string_view name(Mpi mpi);
std::optional<Mpi> mpi_named(std::string_view text);

// The MPI among the libraries that the loader would load, as ldd lists them.
std::optional<Mpi> mpi_in(std::string_view libraries);

// The MPI that a launcher belongs to, by what it says of its version.
std::optional<Mpi> mpi_in_version(std::string_view said);

// The MPI that a program is linked with, if that can be told.
std::optional<Mpi> mpi_of(const std::string& program);

// The MPI whose launcher started this process, by what launchers leave in the environment.
std::optional<Mpi> mpi_of_launcher();

// The MPI's launcher. Throws std::runtime_error if there is none.
std::filesystem::path launcher_of(Mpi mpi);

}  // namespace quadrille::launch
