#include "engine/private_communicator.hpp"

#include <optional>

#include "engine/mpi.hpp"

namespace quadrille::engine {

void check_made(int code, const char* function) {
  try {
    check(code, function);
  } catch (const Error& error) {
    throw NotMade(error.code(), error.what());
  }
}

namespace {

// The errors of what is called on a communicator come back as codes, whatever the program has set for its own calls.
class ReturnedErrors {
 public:
  explicit ReturnedErrors(MPI_Comm comm) : comm_(comm) {
    check(PMPI_Comm_get_errhandler(comm_, &handler_), "MPI_Comm_get_errhandler");
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;
  ~ReturnedErrors() {
    PMPI_Comm_set_errhandler(comm_, handler_);
    PMPI_Errhandler_free(&handler_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace

MPI_Comm private_communicator(MPI_Comm parent, bool among_threads) {
  // Another thread's calls on it keep their error handler.
  std::optional<ReturnedErrors> returned;
  if (!among_threads) returned.emplace(parent);
  MPI_Group all = MPI_GROUP_NULL;
  check(PMPI_Comm_group(parent, &all), "MPI_Comm_group");
  MPI_Comm made = MPI_COMM_NULL;
  const int code = PMPI_Comm_create(parent, all, &made);
  PMPI_Group_free(&all);
  check_made(code, "MPI_Comm_create");
  return made;
}

}  // namespace quadrille::engine
