#include "tools/install_paths.hpp"

#include "tools/build.hpp"

namespace quadrille::tools {

std::filesystem::path mpi_directory(const std::string& mpi) {
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path installed = here.parent_path() / library_folder / "quadrille" / mpi;
  // A build tree has no multiarch folders.
  const std::filesystem::path built = here.parent_path() / "lib" / "quadrille" / mpi;
  return std::filesystem::exists(installed) ? installed : built;
}

}  // namespace quadrille::tools
