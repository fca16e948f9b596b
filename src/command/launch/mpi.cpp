#include "launch/mpi.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "launch/command.hpp"

namespace quadrille::launch {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::string_view name(Mpi mpi) {
  return mpi == Mpi::openmpi ? "openmpi" : "mpich";
}

std::optional<Mpi> mpi_named(std::string_view text) {
  for (Mpi mpi : {Mpi::openmpi, Mpi::mpich}) {
    if (text == name(mpi)) return mpi;
  }
  return std::nullopt;
}

std::optional<Mpi> mpi_in(std::string_view libraries) {
  // MPICH built from source installs libmpi.so.12, vendors libmpi_gnu.so.12; Open MPI has used other numbers since
  // version 2.
  std::optional<Mpi> found;
  for (std::size_t at = 0; (at = libraries.find("libmpi", at)) != std::string_view::npos; ++at) {
    const std::string_view file = libraries.substr(at, libraries.find_first_of(" \n", at) - at);
    if (file.starts_with("libmpich.so") || contains(file, ".so.12")) return Mpi::mpich;
    if (file.starts_with("libmpi.so")) found = Mpi::openmpi;
  }
  return found;
}

std::optional<Mpi> mpi_in_version(std::string_view output) {
  if (contains(output, "Open MPI") || contains(output, "OpenRTE")) return Mpi::openmpi;
  if (contains(output, "HYDRA")) return Mpi::mpich;
  return std::nullopt;
}

std::string version_in(std::string_view output) {
  for (const std::string_view before : {"(Open MPI)", "(OpenRTE)", "Version:"}) {
    const std::size_t found = output.find(before);
    if (found == std::string_view::npos) continue;
    const std::size_t begin = output.find_first_not_of(' ', found + before.size());
    if (begin == std::string_view::npos) break;
    return std::string(output.substr(begin, output.find_first_of(" \n", begin) - begin));
  }
  return "";
}

std::optional<Mpi> mpi_of(const std::string& program) {
  const auto path = find_program(program);
  if (!path || !find_program("ldd")) return std::nullopt;
  return mpi_in(run({"ldd", std::filesystem::absolute(*path)}).text);
}

std::optional<Mpi> mpi_started_by(const std::filesystem::path& launcher) {
  std::error_code none;
  const std::filesystem::path file = std::filesystem::canonical(launcher, none).filename();
  if (file == "orterun") return Mpi::openmpi;
  if (file == "mpiexec.hydra") return Mpi::mpich;
  return mpi_in_version(run({launcher, "--version"}).text);
}

std::optional<Mpi> mpi_of_launcher() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) return Mpi::openmpi;
  if (std::getenv("PMI_SIZE") && std::getenv("MPI_LOCALNRANKS")) return Mpi::mpich;
  return std::nullopt;
}

std::filesystem::path launcher_of(Mpi mpi) {
  // The user's PATH first: Debian's name may belong to another version than the program's.
  const std::string own = fmt::format("mpirun.{}", name(mpi));
  for (const std::string& common : {std::string("mpirun"), std::string("mpiexec"), own, std::string("mpiexec.hydra")}) {
    const auto path = find_program(common);
    if (path && (common == own || mpi_started_by(*path) == mpi)) return *path;
  }
  throw std::runtime_error(fmt::format(
      "no launcher of {0} found: neither {1} nor its mpirun is in the PATH; on Debian it is in the package {2}",
      name(mpi), own, mpi == Mpi::openmpi ? "openmpi-bin" : "mpich"));
}

}  // namespace quadrille::launch
