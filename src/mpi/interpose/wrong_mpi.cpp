// The drop-in of one MPI in a program of another.

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "interpose/dropin.hpp"
#include "interpose/errors.hpp"

namespace quadrille::interpose {

namespace {

// Whether the process has loaded a library of that MPI: libmpich.so.12, or under the names of its ABI libmpi.so.12;
// libmpi.so.40, or an older or newer one of Open MPI.
bool is_loaded(std::string_view mpi) {
  struct Search {
    bool mpich;
    bool found;
  } search{mpi == "mpich", false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        std::string_view file(info->dlpi_name ? info->dlpi_name : "");
        file.remove_prefix(std::min(file.size(), file.rfind('/') + 1));
        const bool mpich = file.starts_with("libmpich.so.") || file.starts_with("libmpi.so.12");
        const bool either = mpich || file.starts_with("libmpi.so.");
        wanted.found = wanted.found || (either && mpich == wanted.mpich);
        return 0;
      },
      &search);
  return search.found;
}

}  // namespace

// Handles of another MPI are of another size: nothing can be passed through to it.
void DropIn::refuse_wrong_mpi() {
#ifdef OPEN_MPI
  constexpr std::string_view own = "Open MPI";
  constexpr std::string_view folder = "openmpi";
  constexpr std::string_view other_folder = "mpich";
#else
  constexpr std::string_view own = "MPICH";
  constexpr std::string_view folder = "mpich";
  constexpr std::string_view other_folder = "openmpi";
#endif
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text = {};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  const std::string_view answered(text.data());
  // A module of Python brings its MPI along: then this drop-in's own answers, though the calls are for the other.
  const bool other = is_loaded(other_folder);
  if (!other && answered.find(own) != std::string_view::npos) return;
  const std::string_view version = other ? other_folder : answered;
  fmt::print(stderr,
             "quadrille: this drop-in (lib/quadrille/{}) is for {}, and the program runs under {}: preload "
             "lib/quadrille/{}/libquadrille-dropin.so, or start the program by its own MPI's mpirun\n",
             folder, own, version.substr(0, version.find('\n')), other_folder);
  std::_Exit(1);
}

}  // namespace quadrille::interpose
