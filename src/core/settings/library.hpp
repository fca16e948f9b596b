#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quadrille {

// An MPI library by what MPI_Get_library_version says.
struct Library {
  enum class Abi : std::uint8_t { openmpi, mpich, other };

  Abi abi = Abi::other;  // whose handles and functions it has
  std::string name;      // with the version, as "Open MPI v4.1.4"
};

Library library_of(std::string_view version);

}  // namespace quadrille
