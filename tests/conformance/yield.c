// Preloaded with MPICH, whose waits spin: when oversubscribed, each message would wait for the end of another rank's
// time slice, 4 ms. Here an idle rank yields instead, as Open MPI's mpi_yield_when_idle.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  if (!next) next = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  unsigned progressed = next(worker);
  if (!progressed) sched_yield();
  return progressed;
}
