// Sessions. A program that uses them alone has no MPI_COMM_WORLD, on which its ranks could agree on settings: all its
// calls are passed through, and counted.

#include <fmt/format.h>
#include <quadrille/detail/export.h>

#include <atomic>

#include "interpose/dropin.hpp"
#include "interpose/errors.hpp"
#include "interpose/next.hpp"
#include "machine/cores.hpp"
#include "settings/settings.hpp"

#if QUADRILLE_MPI_SESSIONS
namespace quadrille::interpose {

namespace {

std::atomic<int> open_sessions = 0;

bool has_world() {
  int has = 0;
  PMPI_Initialized(&has);
  return has != 0;
}

// There is no report: its numbers would have to be gathered from ranks that don't know of each other.
void mention_calls() {
  if (setting("QUADRILLE_REPORT").empty() || machine::rank_by_launcher() != 0) return;
  std::int64_t calls = 0;
  for (std::size_t collective = 0; collective < collectives; ++collective) {
    for (std::size_t outcome = 0; outcome < outcomes; ++outcome) {
      calls += DropIn::get().counted(static_cast<Collective>(collective), static_cast<Outcome>(outcome));
    }
  }
  say(
      fmt::format("the program uses MPI sessions without MPI_Init: its {} collective calls on rank 0 were passed "
                  "through to MPI, and no report is written",
                  calls));
}

}  // namespace

extern "C" {

QUADRILLE_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  DropIn::refuse_wrong_mpi();
  if (open_sessions == 0 && !has_world()) DropIn::get().before_init();
  const int code = QUADRILLE_NEXT(Session_init, (info, errhandler, session))();
  if (code == MPI_SUCCESS) ++open_sessions;
  return code;
}

QUADRILLE_EXPORT int MPI_Session_finalize(MPI_Session* session) {
  if (--open_sessions == 0 && !has_world()) mention_calls();
  return QUADRILLE_NEXT(Session_finalize, (session))();
}

}  // extern "C"

}  // namespace quadrille::interpose
#endif
