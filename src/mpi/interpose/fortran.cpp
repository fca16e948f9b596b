// Fortran functions that call PMPI_ names, where nothing can step in: the drop-in takes the place of these too, and
// makes each the call of C that it stands for. Of Open MPI those are all; of MPICH a few of the module mpi_f08.

#include <mpi.h>
#include <quadrille/detail/export.h>

#include <array>
#include <concepts>
#include <utility>
#include <vector>

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

// NOLINTBEGIN(readability-function-size,bugprone-macro-parentheses): MPI's parameters are as many as they are.
// MPI_Alltoallw with types as Fortran has them.
int alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Fint* sendtypes, void* recvbuf,
              const int* recvcounts, const int* rdispls, const MPI_Fint* recvtypes, MPI_Comm comm) {
  return MPI_Alltoallw(sendbuf, sendcounts, sdispls, types(sendbuf, sendtypes, comm).data(), recvbuf, recvcounts,
                       rdispls, types(recvbuf, recvtypes, comm).data(), comm);
}

}  // namespace

// A function under the two names that programs reach it by: the first from mpif.h and the module mpi, the second from
// the module mpi_f08.
#define QUADRILLE_FORTRAN(name, parameters, body) \
  QUADRILLE_EXPORT void mpi_##name##_ parameters body QUADRILLE_EXPORT void ompi_##name##_f parameters body

// A collective of so many parameters, the error apart.
#define QUADRILLE_COLLECTIVE(name, function, count)                     \
  QUADRILLE_FORTRAN(name, (QUADRILLE_PLACES_##count, MPI_Fint * error), \
                    { call(&function, {{QUADRILLE_GIVEN_##count}}, error); })

#define QUADRILLE_PLACES_1 void* a
#define QUADRILLE_PLACES_5 void *a, void *b, void *c, void *d, void *e
#define QUADRILLE_PLACES_6 QUADRILLE_PLACES_5, void* f
#define QUADRILLE_PLACES_7 QUADRILLE_PLACES_6, void* g
#define QUADRILLE_PLACES_8 QUADRILLE_PLACES_7, void* h
#define QUADRILLE_PLACES_9 QUADRILLE_PLACES_8, void* i
#define QUADRILLE_GIVEN_1 Given(a)
#define QUADRILLE_GIVEN_5 Given(a), Given(b), Given(c), Given(d), Given(e)
#define QUADRILLE_GIVEN_6 QUADRILLE_GIVEN_5, Given(f)
#define QUADRILLE_GIVEN_7 QUADRILLE_GIVEN_6, Given(g)
#define QUADRILLE_GIVEN_8 QUADRILLE_GIVEN_7, Given(h)
#define QUADRILLE_GIVEN_9 QUADRILLE_GIVEN_8, Given(i)

extern "C" {

QUADRILLE_FORTRAN(init, (MPI_Fint * error), { answer(error, MPI_Init(nullptr, nullptr)); })
QUADRILLE_FORTRAN(init_thread, (const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error),
                  { answer(error, MPI_Init_thread(nullptr, nullptr, *required, provided)); })
QUADRILLE_FORTRAN(finalize, (MPI_Fint * error), { answer(error, MPI_Finalize()); })

QUADRILLE_COLLECTIVE(barrier, MPI_Barrier, 1)
QUADRILLE_COLLECTIVE(bcast, MPI_Bcast, 5)
QUADRILLE_COLLECTIVE(reduce, MPI_Reduce, 7)
QUADRILLE_COLLECTIVE(allreduce, MPI_Allreduce, 6)
QUADRILLE_COLLECTIVE(gather, MPI_Gather, 8)
QUADRILLE_COLLECTIVE(gatherv, MPI_Gatherv, 9)
QUADRILLE_COLLECTIVE(scatter, MPI_Scatter, 8)
QUADRILLE_COLLECTIVE(scatterv, MPI_Scatterv, 9)
QUADRILLE_COLLECTIVE(allgather, MPI_Allgather, 7)
QUADRILLE_COLLECTIVE(allgatherv, MPI_Allgatherv, 8)
QUADRILLE_COLLECTIVE(alltoall, MPI_Alltoall, 7)
QUADRILLE_COLLECTIVE(alltoallv, MPI_Alltoallv, 9)
QUADRILLE_COLLECTIVE(alltoallw, alltoallw, 9)
QUADRILLE_COLLECTIVE(reduce_scatter, MPI_Reduce_scatter, 6)
QUADRILLE_COLLECTIVE(reduce_scatter_block, MPI_Reduce_scatter_block, 6)
QUADRILLE_COLLECTIVE(scan, MPI_Scan, 6)
QUADRILLE_COLLECTIVE(exscan, MPI_Exscan, 6)

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
