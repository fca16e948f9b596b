// The drop-in of one MPI in a program of another.

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "interpose/dropin.hpp"
#include "settings/library.hpp"

namespace quadrille::interpose {

namespace {

// The libraries of MPI that the process has loaded.
struct Loaded {
  bool openmpi = false;       // libmpi.so.40, or an older or newer one
  bool mpich = false;         // libmpich.so.12, libmpi.so.12, or a vendor's libmpi_gnu.so.12
  bool standard_abi = false;  // libmpi_abi.so.1
};

Loaded loaded() {
  Loaded found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& all = *static_cast<Loaded*>(data);
        std::string_view file(info->dlpi_name ? info->dlpi_name : "");
        file.remove_prefix(std::min(file.size(), file.rfind('/') + 1));
        const bool of_twelve = file.starts_with("libmpi") && file.find(".so.12") != std::string_view::npos;
        if (file.starts_with("libmpi_abi.so")) {
          all.standard_abi = true;
        } else if (file.starts_with("libmpich.so.") || of_twelve) {
          all.mpich = true;
        } else if (file.starts_with("libmpi.so.")) {
          all.openmpi = true;
        }
        return 0;
      },
      &found);
  return found;
}

std::string answering() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text = {};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  return text.data();
}

[[noreturn]] void refuse(std::string_view folder, std::string_view own, std::string_view program,
                         std::string_view remedy) {
  fmt::print(stderr, "quadrille: this drop-in (lib/quadrille/{}) is for {}, and the program {}: {}\n", folder, own,
             program, remedy);
  std::_Exit(1);
}

}  // namespace

// Handles of another MPI are of another size: nothing can be passed through to it.
void DropIn::refuse_wrong_mpi() {
#ifdef OPEN_MPI
  constexpr std::string_view own = "Open MPI";
  constexpr std::string_view folder = "openmpi";
  constexpr std::string_view other_folder = "mpich";
  constexpr Library::Abi own_abi = Library::Abi::openmpi;
#else
  constexpr std::string_view own = "MPICH";
  constexpr std::string_view folder = "mpich";
  constexpr std::string_view other_folder = "openmpi";
  constexpr Library::Abi own_abi = Library::Abi::mpich;
#endif
  const Loaded libraries = loaded();
  if (libraries.standard_abi) {
    refuse(folder, own, "uses the standard ABI (libmpi_abi.so), which Quadrille has no drop-in for",
           "start it without quadrille run, or build it with the MPI's own mpicc");
  }
  // A module of Python brings its MPI along: then this drop-in's own answers, though the calls are for the other.
  const bool other = own_abi == Library::Abi::openmpi ? libraries.mpich : libraries.openmpi;
  const Library answers = library_of(answering());
  if (!other && answers.abi == own_abi) return;
  if (!other && answers.abi == Library::Abi::other) {
    refuse(folder, own, fmt::format("runs under {}, which Quadrille doesn't know", answers.name),
           "start it without quadrille run");
  }
  refuse(folder, own, fmt::format("runs under {}", other ? other_folder : answers.name),
         fmt::format("preload lib/quadrille/{}/libquadrille-dropin.so, or start the program by its own MPI's mpirun",
                     other_folder));
}

}  // namespace quadrille::interpose
