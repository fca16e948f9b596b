#include "engine/mpi.hpp"

#include <fmt/format.h>

#include <array>
#include <quadrille/error.hpp>
#include <string_view>

#include "settings/library.hpp"

namespace quadrille::engine {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  PMPI_Error_string(code, text.data(), &length);
  throw Error(code, fmt::format("{}: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

std::string mpi_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text = {};
  int length = 0;
  check(PMPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  return library_of(text.data()).name;
}

}  // namespace quadrille::engine
