#include "interpose/errors.hpp"

#include <cstdio>

namespace quadrille::interpose {

void say(std::string_view text) noexcept {
  std::fprintf(stderr, "quadrille: %.*s\n", static_cast<int>(text.size()), text.data());
}

int report_error(MPI_Comm comm, int code, const char* text) {
  say(text);
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

bool is_for_mpi_to_report(const Error& error) {
  switch (error.code()) {
    case MPI_ERR_ARG:
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_OP:
    case MPI_ERR_ROOT:
    case MPI_ERR_TYPE:
      return true;
    default:
      return false;
  }
}

}  // namespace quadrille::interpose
