#include "engine/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <quadrille/error.hpp>
#include <string_view>

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
  // "Open MPI v4.1.4, package: ..." or "MPICH Version:\t4.0.2\nMPICH Release date:..."
  std::string first = text.data();
  first.resize(std::min(first.find('\n'), std::min(first.find(','), first.size())));
  for (char& letter : first) {
    if (letter == '\t') letter = ' ';
  }
  const std::size_t colon = first.find(" Version: ");
  return colon == std::string::npos ? first : first.erase(colon, std::string_view(" Version:").size());
}

}  // namespace quadrille::engine
