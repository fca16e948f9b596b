// The functions of MPI that the drop-in replaces. A wrapper has no logic: whether a call is one of many that are passed
// through passes_at_once() says, and what is to become of all others intercept() finds out.

#include <quadrille/detail/export.h>

#include "api/parameters.hpp"
#include "interpose/intercept.hpp"
#include "interpose/next.hpp"

namespace quadrille::interpose {

namespace {

using api::blocks;
using detail::data_call;
using detail::reduction_call;

constexpr Manner non_blocking = {.form = trace::Form::non_blocking};
constexpr Manner among_neighbours = {.neighbours = true};
constexpr Manner non_blocking_among_neighbours = {.form = trace::Form::non_blocking, .neighbours = true};

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

}  // extern "C"

// A function that is counted and passed through, non-blocking or among neighbours.
#define QUADRILLE_PASS(name, collective, reason, how, parameters, arguments, call) \
  QUADRILLE_EXPORT int MPI_##name parameters {                                     \
    DropIn::get().count(Collective::collective, Outcome::reason);                  \
    return traced_call(                                                            \
        how, comm, [&] { return call; }, QUADRILLE_NEXT(name, arguments));         \
  }
// MPI has persistent collectives since version 4.
#if QUADRILLE_MPI_PERSISTENT
#define QUADRILLE_PASS_PERSISTENT(name, collective, reason, neighbours, parameters, call)                              \
  QUADRILLE_EXPORT int MPI_##name(QUADRILLE_DECLARED(parameters) MPI_Comm comm, MPI_Info info, MPI_Request* request) { \
    DropIn::get().count(Collective::collective, Outcome::reason);                                                      \
    return traced_call_init(                                                                                           \
        neighbours, comm, request, [&] { return call; },                                                               \
        QUADRILLE_NEXT(name, (QUADRILLE_PASSED(parameters) comm, info, request)));                                     \
  }
#else
#define QUADRILLE_PASS_PERSISTENT(name, collective, reason, neighbours, parameters, call)
#endif

// The forms that MPI has of a collective, and of one among neighbours; those for large counts have a suffix.
// What does not go the quick way is a function of its own, so that on that way no parameter has to be in memory.
#define QUADRILLE_FORMS(name, collective, suffix, parameters, call)                               \
  [[gnu::noinline]] static int run_##name##suffix(QUADRILLE_DECLARED(parameters) MPI_Comm comm) { \
    return intercept(                                                                             \
        Collective::collective, comm, [&] { return call; },                                       \
        QUADRILLE_NEXT(name##suffix, (QUADRILLE_PASSED(parameters) comm)));                       \
  }                                                                                               \
  QUADRILLE_EXPORT int MPI_##name##suffix(QUADRILLE_DECLARED(parameters) MPI_Comm comm) {         \
    if (!DropIn::passes_at_once(Collective::collective, call, comm)) {                            \
      return run_##name##suffix(QUADRILLE_PASSED(parameters) comm);                               \
    }                                                                                             \
    return QUADRILLE_NEXT(name##suffix, (QUADRILLE_PASSED(parameters) comm))();                   \
  }                                                                                               \
  QUADRILLE_PASS(I##collective##suffix, collective, non_blocking, non_blocking,                   \
                 (QUADRILLE_DECLARED(parameters) MPI_Comm comm, MPI_Request * request),           \
                 (QUADRILLE_PASSED(parameters) comm, request), call)                              \
  QUADRILLE_PASS_PERSISTENT(name##_init##suffix, collective, persistent, false, parameters, call)
#define QUADRILLE_NEIGHBOUR_FORMS(collective, suffix, parameters, call)                                     \
  QUADRILLE_PASS(Neighbor_##collective##suffix, collective, neighbourhood, among_neighbours,                \
                 (QUADRILLE_DECLARED(parameters) MPI_Comm comm), (QUADRILLE_PASSED(parameters) comm), call) \
  QUADRILLE_PASS(Ineighbor_##collective##suffix, collective, neighbourhood, non_blocking_among_neighbours,  \
                 (QUADRILLE_DECLARED(parameters) MPI_Comm comm, MPI_Request * request),                     \
                 (QUADRILLE_PASSED(parameters) comm, request), call)                                        \
  QUADRILLE_PASS_PERSISTENT(Neighbor_##collective##_init##suffix, collective, neighbourhood, true, parameters, call)

namespace all_ranks {

using Parameter = api::ParameterTypes<int, int>;
extern "C" {
#define QUADRILLE_COLLECTIVE(name, collective, parameters, call) QUADRILLE_FORMS(name, collective, , parameters, call)
#include "api/collectives.def"
}  // extern "C"

}  // namespace all_ranks

namespace neighbours {

using Parameter = api::ParameterTypes<int, int, MPI_Aint>;
extern "C" {
#define QUADRILLE_COLLECTIVE(name, collective, parameters, call)
#define QUADRILLE_NEIGHBOURS(name, collective, parameters, call) \
  QUADRILLE_NEIGHBOUR_FORMS(collective, , parameters, call)
#include "api/collectives.def"
}  // extern "C"

}  // namespace neighbours

#if QUADRILLE_MPI_LARGE_COUNTS
namespace large_counts {

using Parameter = api::ParameterTypes<MPI_Count, MPI_Aint>;
extern "C" {
#define QUADRILLE_BARRIER(name, collective, parameters, call)
#define QUADRILLE_COLLECTIVE(name, collective, parameters, call) QUADRILLE_FORMS(name, collective, _c, parameters, call)
#define QUADRILLE_NEIGHBOURS(name, collective, parameters, call) \
  QUADRILLE_FORMS(name, collective, _c, parameters, call)        \
  QUADRILLE_NEIGHBOUR_FORMS(collective, _c, parameters, call)
#include "api/collectives.def"
}  // extern "C"

}  // namespace large_counts
#endif
// NOLINTEND(readability-function-size)

}  // namespace quadrille::interpose
