#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace quadrille::launch {

enum class Mpi { openmpi, mpich };

std::string_view name(Mpi mpi);
std::optional<Mpi> mpi_named(std::string_view text);

// The MPI among the libraries that ldd lists.
std::optional<Mpi> mpi_in(std::string_view libraries);

// The MPI of a launcher, by its --version output.
std::optional<Mpi> mpi_in_version(std::string_view output);
// And its version, as "4.1.4"; empty: there is none. Warnings may stand in front of it.
std::string version_in(std::string_view output);

// The MPI that a program is linked with, if it can be detected.
std::optional<Mpi> mpi_of(const std::string& program);

// The MPI of a launcher, by the name of the file behind its links, or else by its --version output.
std::optional<Mpi> mpi_started_by(const std::filesystem::path& launcher);

// The MPI whose launcher started this process, by the environment.
std::optional<Mpi> mpi_of_launcher();

// The path of the MPI's launcher. Throws std::runtime_error if there is none.
std::filesystem::path launcher_of(Mpi mpi);

}  // namespace quadrille::launch
