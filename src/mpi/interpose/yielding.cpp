#include "interpose/yielding.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <quadrille/detail/export.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "engine/requests.hpp"
#include "engine/waiting.hpp"

namespace quadrille::interpose {

namespace {

using Clock = engine::Waiter::Clock;

// A function of UCX that ours stands before: MPI's, or that of a library that the program has loaded for itself.
[[maybe_unused]] void* behind_us(const char* name) {
  if (void* const found = dlsym(RTLD_NEXT, name)) return found;
  void* const library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
  void* const found = library ? dlsym(library, name) : nullptr;
  if (found) return found;
  fmt::print(stderr, "quadrille: there is no {} behind the drop-in: run this program without it\n", name);
  std::abort();
}

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
  static auto* const next = reinterpret_cast<Function*>(behind_us("ucp_worker_progress"));
  static const engine::Patience patience = engine::Patience::with_mpi();
  thread_local engine::Waiter waiter(patience);
  thread_local Clock::time_point last;  // look, when it was over
  const unsigned progressed = next(worker);
  reached.store(true, std::memory_order_relaxed);
  if (!yielding.load(std::memory_order_relaxed) || engine::Requests::polling()) return progressed;
  // Whoever waits looks again at once; one who comes back from other work does not wait, but looks by the way.
  constexpr auto at_once = std::chrono::microseconds(20);
  if (progressed != 0 || Clock::now() - last > at_once) {
    waiter.busy();
  } else {
    waiter.idle();
  }
  last = Clock::now();
  return progressed;
}
#endif

}  // namespace quadrille::interpose
