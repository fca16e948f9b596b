// The functions of MPI that the drop-in replaces. A wrapper has no logic: what is to become of a call, intercept()
// finds out.

#include <quadrille/detail/export.h>

#include "interpose/intercept.hpp"
#include "interpose/next.hpp"

namespace quadrille::interpose {

namespace {

using detail::data_call;
using detail::reduction_call;

// One side of a collective with blocks of different lengths, as MPI's callers give it.
template <class Count, class Displacement>
detail::UserBuffer blocks(const void* address, const Count* counts, const Displacement* displacements,
                          MPI_Datatype type) {
  return {.address = address, .type = type, .counts = counts, .displacements = displacements};
}
template <class Count, class Displacement>
detail::UserBuffer blocks(const void* address, const Count* counts, const Displacement* displacements,
                          const MPI_Datatype* types) {
  return {.address = address, .counts = counts, .displacements = displacements, .types = types};
}

}  // namespace

// NOLINTBEGIN(readability-function-size): MPI's parameters are as many as they are.
extern "C" {

QUADRILLE_EXPORT int MPI_Init(int* argc, char*** argv) {
  return begin(QUADRILLE_NEXT(Init, (argc, argv)));
}

QUADRILLE_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return begin(QUADRILLE_NEXT(Init_thread, (argc, argv, required, provided)));
}

QUADRILLE_EXPORT int MPI_Finalize() {
  DropIn::get().end();
  return QUADRILLE_NEXT(Finalize, ())();
}

QUADRILLE_EXPORT int MPI_Barrier(MPI_Comm comm) {
  return intercept(
      Collective::barrier, comm, [] { return data_call(Collective::barrier, {}, {}); },
      QUADRILLE_NEXT(Barrier, (comm)));
}

#define QUADRILLE_WRAP(name, collective, parameters, arguments, call)                         \
  QUADRILLE_EXPORT int MPI_##name parameters {                                                \
    return intercept(                                                                         \
        Collective::collective, comm, [&] { return call; }, QUADRILLE_NEXT(name, arguments)); \
  }
#define QUADRILLE_PASS(name, collective, reason, parameters, arguments) \
  QUADRILLE_EXPORT int MPI_##name parameters {                          \
    DropIn::get().count(Collective::collective, Outcome::reason);       \
    return QUADRILLE_NEXT(name, arguments)();                           \
  }
using Count = int;
using Displacement = int;
#include "interpose/blocking.def"
#include "interpose/passed_through.def"
QUADRILLE_PASS(Ibarrier, barrier, non_blocking, (MPI_Comm comm, MPI_Request* request), (comm, request))
#if QUADRILLE_MPI_PERSISTENT
#include "interpose/persistent.def"
QUADRILLE_PASS(Barrier_init, barrier, persistent, (MPI_Comm comm, MPI_Info info, MPI_Request* request),
               (comm, info, request))
#endif
#undef QUADRILLE_WRAP
#undef QUADRILLE_PASS

}  // extern "C"

#if QUADRILLE_MPI_LARGE_COUNTS
namespace wide {

extern "C" {

#define QUADRILLE_WRAP(name, collective, parameters, arguments, call)                             \
  QUADRILLE_EXPORT int MPI_##name##_c parameters {                                                \
    return intercept(                                                                             \
        Collective::collective, comm, [&] { return call; }, QUADRILLE_NEXT(name##_c, arguments)); \
  }
#define QUADRILLE_PASS(name, collective, reason, parameters, arguments) \
  QUADRILLE_EXPORT int MPI_##name##_c parameters {                      \
    DropIn::get().count(Collective::collective, Outcome::reason);       \
    return QUADRILLE_NEXT(name##_c, arguments)();                       \
  }
using Count = MPI_Count;
using Displacement = MPI_Aint;
#include "interpose/blocking.def"
#include "interpose/passed_through.def"
#include "interpose/persistent.def"
#undef QUADRILLE_WRAP
#undef QUADRILLE_PASS

}  // extern "C"

}  // namespace wide
#endif
// NOLINTEND(readability-function-size)

}  // namespace quadrille::interpose
