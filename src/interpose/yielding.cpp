#include "interpose/yielding.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <quadrille/export.hpp>

#include "engine/waiting.hpp"

namespace quadrille::interpose {

namespace {

std::atomic<bool> reached = false;
std::atomic<bool> yielding = false;

}  // namespace

bool reaches_waits_of_mpi() {
  return reached;
}

void let_mpi_yield(bool on) {
  yielding = on;
}

#ifndef OPEN_MPI
// MPICH over UCX looks for messages by this function, whatever it waits for.
extern "C" QUADRILLE_EXPORT unsigned ucp_worker_progress(void* worker) {
  using Function = unsigned(void*);
  static auto* const next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  static const engine::Patience patience = engine::Patience::with_mpi();
  thread_local engine::Waiter waiter(patience);
  const unsigned progressed = next(worker);
  reached.store(true, std::memory_order_relaxed);
  if (!yielding.load(std::memory_order_relaxed)) return progressed;
  if (progressed == 0) {
    waiter.idle();
  } else {
    waiter.busy();
  }
  return progressed;
}
#endif

}  // namespace quadrille::interpose
