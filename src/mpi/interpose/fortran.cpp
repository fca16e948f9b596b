// Fortran functions that call PMPI_ names, where nothing can step in: the drop-in takes the place of these too, and
// makes each the call of C that it stands for. Of Open MPI those are all; of MPICH a few of the module mpi_f08.

#include <mpi.h>
#include <quadrille/detail/export.h>

#include <array>
#include <concepts>
#include <utility>
#include <vector>

#include "api/parameters.hpp"

namespace quadrille::interpose {

namespace {

void answer(MPI_Fint* error, int code) {
  if (error) *error = code;
}

}  // namespace

}  // namespace quadrille::interpose

#ifdef OPEN_MPI
// Fortran's MPI_IN_PLACE and MPI_BOTTOM are places, not values. Missing where Open MPI was built without Fortran.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): Open MPI's names.
[[gnu::weak]] extern int mpi_fortran_in_place_;
[[gnu::weak]] extern int mpi_fortran_bottom_;
// NOLINTEND(readability-identifier-naming)
}

namespace quadrille::interpose {

namespace {

static_assert(std::same_as<MPI_Fint, int>, "counts and displacements are passed on as they are");

// What Fortran gives by reference, as C's parameter. Converts to what the parameter asks for.
class Given {
 public:
  explicit Given(void* place) : place_(place) {}

  operator void*() const {
    if (place_ == &mpi_fortran_in_place_) return MPI_IN_PLACE;
    return place_ == &mpi_fortran_bottom_ ? MPI_BOTTOM : place_;
  }
  operator const void*() const { return static_cast<void*>(*this); }
  operator int() const { return *static_cast<const MPI_Fint*>(place_); }
  operator const int*() const { return static_cast<const MPI_Fint*>(place_); }
  operator MPI_Datatype() const { return PMPI_Type_f2c(*this); }
  operator MPI_Op() const { return PMPI_Op_f2c(*this); }
  operator MPI_Comm() const { return PMPI_Comm_f2c(*this); }

 private:
  void* place_;
};

template <class... Parameters>
void call(int (*function)(Parameters...), const std::array<Given, sizeof...(Parameters)>& given, MPI_Fint* error) {
  const auto all = [&]<std::size_t... at>(std::index_sequence<at...>) {
    return function(static_cast<Parameters>(given[at])...);
  };
  answer(error, all(std::index_sequence_for<Parameters...>()));
}

// The types of one side's blocks, from handles of Fortran's. Nobody looks at them if its buffer says MPI_IN_PLACE.
std::vector<MPI_Datatype> types(const void* buffer, const MPI_Fint* handles, MPI_Comm comm) {
  if (buffer == MPI_IN_PLACE) return {};
  int inter = 0;
  int size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  inter ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  std::vector<MPI_Datatype> result;
  for (int i = 0; i < size; ++i) result.push_back(PMPI_Type_f2c(handles[i]));
  return result;
}

// The one collective with arrays of types.
void call(decltype(&MPI_Alltoallw) function, const std::array<Given, 9>& given, MPI_Fint* error) {
  const auto& [sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes, comm] = given;
  answer(error, function(sendbuf, sendcounts, senddispls, types(sendbuf, sendtypes, comm).data(), recvbuf, recvcounts,
                         recvdispls, types(recvbuf, recvtypes, comm).data(), comm));
}

}  // namespace

// A function under the two names that programs reach it by: the first from mpif.h and the module mpi, the second from
// the module mpi_f08.
#define QUADRILLE_FORTRAN(name, parameters, body) \
  QUADRILLE_EXPORT void mpi_##name##_ parameters body QUADRILLE_EXPORT void ompi_##name##_f parameters body

// NOLINTBEGIN(readability-function-size,bugprone-macro-parentheses): MPI's parameters are as many as they are.
extern "C" {

QUADRILLE_FORTRAN(init, (MPI_Fint * error), { answer(error, MPI_Init(nullptr, nullptr)); })
QUADRILLE_FORTRAN(init_thread, (const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error),
                  { answer(error, MPI_Init_thread(nullptr, nullptr, *required, provided)); })
QUADRILLE_FORTRAN(finalize, (MPI_Fint * error), { answer(error, MPI_Finalize()); })

#define QUADRILLE_PLACE(type, name) void *name,
#define QUADRILLE_GIVEN(type, name) Given(name),
#define QUADRILLE_COLLECTIVE(name, collective, parameters, described)                                      \
  QUADRILLE_FORTRAN(collective, (QUADRILLE_EACH(QUADRILLE_PLACE, parameters) void* comm, MPI_Fint* error), \
                    { call(&MPI_##name, {{QUADRILLE_EACH(QUADRILLE_GIVEN, parameters) Given(comm)}}, error); })
#include "api/collectives.def"

}  // extern "C"
// NOLINTEND(readability-function-size,bugprone-macro-parentheses)

}  // namespace quadrille::interpose
#else
namespace quadrille::interpose {

extern "C" {

QUADRILLE_EXPORT void mpi_init_f08_(MPI_Fint* error) {
  answer(error, MPI_Init(nullptr, nullptr));
}

QUADRILLE_EXPORT void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  answer(error, MPI_Init_thread(nullptr, nullptr, *required, provided));
}

QUADRILLE_EXPORT void mpi_finalize_f08_(MPI_Fint* error) {
  answer(error, MPI_Finalize());
}

QUADRILLE_EXPORT void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* error) {
  answer(error, MPI_Barrier(PMPI_Comm_f2c(*comm)));
}

}  // extern "C"

}  // namespace quadrille::interpose
#endif
