// Blocking calls that wait for a message. On an oversubscribed node under an MPI that spins, each becomes its
// non-blocking form and a wait that lets others run; elsewhere they are passed through as they are. A trace records
// them.

#include <quadrille/detail/export.h>

#include "engine/process.hpp"
#include "interpose/dropin.hpp"
#include "interpose/errors.hpp"
#include "interpose/next.hpp"
#include "interpose/tracer.hpp"

namespace quadrille::interpose {

using trace::Activity;

namespace {

// Calls test(done), which returns a code of MPI, until it is done or fails.
template <class Test>
int wait_for(Test&& test) {
  int code = MPI_SUCCESS;
  const engine::Patience patience = engine::Patience::with_mpi();
  try {
    engine::Process::get().wait_for_mpi(
        [&] {
          bool done = false;
          code = test(done);
          return done || code != MPI_SUCCESS;
        },
        patience);
  } catch (const std::exception& error) {
    return report_error(MPI_COMM_SELF, MPI_ERR_INTERN, error.what());
  }
  return code;
}

// By test(flag), as MPI's own.
template <class Test>
int tested(Test&& test) {
  return wait_for([&](bool& done) {
    int flag = 0;
    const int code = test(&flag);
    done = flag != 0;
    return code;
  });
}

// Starts a message by `start`, and waits for it.
template <class Start>
int sent_or_received(Start&& start, MPI_Status* status = MPI_STATUS_IGNORE) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = start(&request);
  if (code != MPI_SUCCESS) return code;
  return tested([&](int* flag) { return PMPI_Test(&request, flag, status); });
}

// A function of its own, for the same reason as in tracer.hpp.
template <class Call>
[[gnu::noinline]] int called(Call call) {
  return call();
}

// A call as it is, or what takes its place where waits are ours.
template <class PassThrough, class Instead>
[[gnu::always_inline]] inline int waits_or(const PassThrough& pass_through, const Instead& instead) {
  if (!DropIn::get().waits()) [[likely]]
    return pass_through();
  return called(instead);
}

}  // namespace

// MPI's name, and the twin's.
#define QUADRILLE_SEND(name, twin)                                                                                    \
  QUADRILLE_EXPORT int MPI_##name(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) { \
    return traced_send(peer, count, type, comm, [=] {                                                                 \
      return waits_or(QUADRILLE_NEXT(name, (data, count, type, peer, tag, comm)), [=] {                               \
        return sent_or_received(                                                                                      \
            [&](MPI_Request* request) { return PMPI_##twin(data, count, type, peer, tag, comm, request); });          \
      });                                                                                                             \
    });                                                                                                               \
  }

// NOLINTBEGIN(readability-function-size): MPI's parameters are as many as they are.
extern "C" {

QUADRILLE_SEND(Send, Isend)
QUADRILLE_SEND(Ssend, Issend)
QUADRILLE_SEND(Rsend, Irsend)

QUADRILLE_EXPORT int MPI_Recv(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                              MPI_Status* status) {
  return timed(Activity::receive, [=] {
    const auto pass_through = QUADRILLE_NEXT(Recv, (data, count, type, peer, tag, comm, status));
    // From nobody, MPICH's MPI_Irecv leaves a wrong status, and there is nothing to wait for.
    if (peer == MPI_PROC_NULL) return pass_through();
    return waits_or(pass_through, [=] {
      return sent_or_received(
          [&](MPI_Request* request) { return PMPI_Irecv(data, count, type, peer, tag, comm, request); }, status);
    });
  });
}

QUADRILLE_EXPORT int MPI_Mrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  return timed(Activity::receive, [=] {
    return waits_or(QUADRILLE_NEXT(Mrecv, (data, count, type, message, status)), [=] {
      return sent_or_received([&](MPI_Request* request) { return PMPI_Imrecv(data, count, type, message, request); },
                              status);
    });
  });
}

QUADRILLE_EXPORT int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* place,
                                  int place_count, MPI_Datatype place_type, int from, int place_tag, MPI_Comm comm,
                                  MPI_Status* status) {
  const auto send = [=](MPI_Request* sent) { return PMPI_Isend(data, count, type, to, tag, comm, sent); };
  const auto instead = [=] {
    if (from == MPI_PROC_NULL) {
      const int code = sent_or_received(send);
      return code != MPI_SUCCESS ? code : PMPI_Recv(place, place_count, place_type, from, place_tag, comm, status);
    }
    return sent_or_received(
        [&](MPI_Request* received) {
          const int code = PMPI_Irecv(place, place_count, place_type, from, place_tag, comm, received);
          return code != MPI_SUCCESS ? code : sent_or_received(send);
        },
        status);
  };
  const auto run = [=] {
    return waits_or(QUADRILLE_NEXT(Sendrecv, (data, count, type, to, tag, place, place_count, place_type, from,
                                              place_tag, comm, status)),
                    instead);
  };
  return traced_send(to, count, type, comm, run, Activity::receive);
}

QUADRILLE_EXPORT int MPI_Probe(int peer, int tag, MPI_Comm comm, MPI_Status* status) {
  return timed(Activity::receive, [=] {
    const auto pass_through = QUADRILLE_NEXT(Probe, (peer, tag, comm, status));
    if (peer == MPI_PROC_NULL) return pass_through();
    return waits_or(pass_through,
                    [=] { return tested([&](int* flag) { return PMPI_Iprobe(peer, tag, comm, flag, status); }); });
  });
}

QUADRILLE_EXPORT int MPI_Mprobe(int peer, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return timed(Activity::receive, [=] {
    const auto pass_through = QUADRILLE_NEXT(Mprobe, (peer, tag, comm, message, status));
    if (peer == MPI_PROC_NULL) return pass_through();
    return waits_or(pass_through, [=] {
      return tested([&](int* flag) { return PMPI_Improbe(peer, tag, comm, flag, message, status); });
    });
  });
}

QUADRILLE_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return timed(Activity::wait, [=] {
    return waits_or(QUADRILLE_NEXT(Wait, (request, status)),
                    [=] { return tested([&](int* flag) { return PMPI_Test(request, flag, status); }); });
  });
}

QUADRILLE_EXPORT int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return timed(Activity::wait, [=] {
    return waits_or(QUADRILLE_NEXT(Waitall, (count, requests, statuses)),
                    [=] { return tested([&](int* flag) { return PMPI_Testall(count, requests, flag, statuses); }); });
  });
}

QUADRILLE_EXPORT int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return timed(Activity::wait, [=] {
    return waits_or(QUADRILLE_NEXT(Waitany, (count, requests, index, status)), [=] {
      return tested([&](int* flag) { return PMPI_Testany(count, requests, index, flag, status); });
    });
  });
}

QUADRILLE_EXPORT int MPI_Waitsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  return timed(Activity::wait, [=] {
    return waits_or(QUADRILLE_NEXT(Waitsome, (count, requests, ended, indices, statuses)), [=] {
      return wait_for([&](bool& done) {
        const int code = PMPI_Testsome(count, requests, ended, indices, statuses);
        done = *ended != 0;
        return code;
      });
    });
  });
}

}  // extern "C"
// NOLINTEND(readability-function-size)

}  // namespace quadrille::interpose
