// Fortran functions of messages that call PMPI_ names, where nothing can step in: they are recorded in a trace and
// passed through as they are. Of Open MPI those are all; of MPICH, of the module mpi_f08, those without data.

#include <dlfcn.h>
#include <mpi.h>
#include <quadrille/detail/export.h>

#include "interpose/tracer.hpp"

namespace quadrille::interpose {

using trace::Activity;

namespace {

int number(const void* place) {
  return *static_cast<const MPI_Fint*>(place);
}

// What is done with a function: each is called with one that calls the next in the chain, which leaves its code in
// `error`.
struct Timed {
  Activity activity;
  const MPI_Fint* error;

  int code() const { return error ? *error : MPI_SUCCESS; }
  template <class Call>
  void operator()(const Call& call) const {
    timed(activity, [&] {
      call();
      return code();
    });
  }
};

#ifdef OPEN_MPI
// A message's parameters as Fortran passes them.
struct Message {
  const void* count;
  const void* type;
  const void* peer;
  const void* comm;
};

struct Sending {
  Message message;
  Timed time;

  template <class Call>
  void operator()(const Call& call) const {
    time(call);
    if (!tracer || time.code() != MPI_SUCCESS) return;
    tracer->sent(number(message.peer), number(message.count), PMPI_Type_f2c(number(message.type)),
                 PMPI_Comm_f2c(number(message.comm)));
  }
};

struct Preparing {
  Message message;
  const void* request;
  Timed time;

  template <class Call>
  void operator()(const Call& call) const {
    time(call);
    if (!tracer || time.code() != MPI_SUCCESS) return;
    tracer->prepared_send(number(message.peer), number(message.count), PMPI_Type_f2c(number(message.type)),
                          PMPI_Comm_f2c(number(message.comm)), PMPI_Request_f2c(number(request)));
  }
};
#endif

struct Starting {
  int count;
  const void* requests;
  Timed time;

  template <class Call>
  void operator()(const Call& call) const {
    time(call);
    if (!tracer || time.code() != MPI_SUCCESS) return;
    for (int i = 0; i < count; ++i) {
      MPI_Request request = PMPI_Request_f2c(static_cast<const MPI_Fint*>(requests)[i]);
      tracer->started({&request, 1});
    }
  }
};

struct Freeing {
  const void* request;

  template <class Call>
  void operator()(const Call& call) const {
    if (tracer) tracer->freed(PMPI_Request_f2c(number(request)));
    call();
  }
};

}  // namespace

// A function that calls the next one of that name with these arguments.
#define QUADRILLE_NEXT_FORTRAN(symbol, arguments)                                               \
  [&] {                                                                                         \
    static auto* const next = reinterpret_cast<decltype(&(symbol))>(dlsym(RTLD_NEXT, #symbol)); \
    next arguments;                                                                             \
  }
// A function under the names that programs reach it by: of Open MPI the first from mpif.h and the module mpi, the
// second from the module mpi_f08.
#define QUADRILLE_RECORDED_AS(symbol, parameters, arguments, ...) \
  QUADRILLE_EXPORT void symbol parameters {                       \
    __VA_ARGS__(QUADRILLE_NEXT_FORTRAN(symbol, arguments));       \
  }
#ifdef OPEN_MPI
#define QUADRILLE_RECORDED(name, parameters, arguments, ...)               \
  QUADRILLE_RECORDED_AS(mpi_##name##_, parameters, arguments, __VA_ARGS__) \
  QUADRILLE_RECORDED_AS(ompi_##name##_f, parameters, arguments, __VA_ARGS__)
#else
#define QUADRILLE_RECORDED(name, parameters, arguments, ...) \
  QUADRILLE_RECORDED_AS(mpi_##name##_f08_, parameters, arguments, __VA_ARGS__)
#endif
#define QUADRILLE_TIMED(name, activity, parameters, arguments) \
  QUADRILLE_RECORDED(name, parameters, arguments, Timed{Activity::activity, error})
// NOLINTBEGIN(readability-function-size,bugprone-macro-parentheses): MPI's parameters are as many as they are.
extern "C" {

#ifdef OPEN_MPI
#define QUADRILLE_SENDING(name)                                                                                       \
  QUADRILLE_RECORDED(name, (void* data, void* count, void* type, void* peer, void* tag, void* comm, MPI_Fint* error), \
                     (data, count, type, peer, tag, comm, error),                                                     \
                     Sending{{count, type, peer, comm}, {Activity::send, error}})
#define QUADRILLE_MESSAGE_AND_REQUEST \
  (void* data, void* count, void* type, void* peer, void* tag, void* comm, void* request, MPI_Fint* error)
#define QUADRILLE_SENDING_LATER(name)                                                                           \
  QUADRILLE_RECORDED(name, QUADRILLE_MESSAGE_AND_REQUEST, (data, count, type, peer, tag, comm, request, error), \
                     Sending{{count, type, peer, comm}, {Activity::send, error}})
#define QUADRILLE_PREPARING(name)                                                                               \
  QUADRILLE_RECORDED(name, QUADRILLE_MESSAGE_AND_REQUEST, (data, count, type, peer, tag, comm, request, error), \
                     Preparing{{count, type, peer, comm}, request, {Activity::send, error}})

QUADRILLE_SENDING(send)
QUADRILLE_SENDING(bsend)
QUADRILLE_SENDING(ssend)
QUADRILLE_SENDING(rsend)
QUADRILLE_SENDING_LATER(isend)
QUADRILLE_SENDING_LATER(ibsend)
QUADRILLE_SENDING_LATER(issend)
QUADRILLE_SENDING_LATER(irsend)
QUADRILLE_PREPARING(send_init)
QUADRILLE_PREPARING(bsend_init)
QUADRILLE_PREPARING(ssend_init)
QUADRILLE_PREPARING(rsend_init)
QUADRILLE_RECORDED(sendrecv,
                   (void* data, void* count, void* type, void* to, void* tag, void* place, void* place_count,
                    void* place_type, void* from, void* place_tag, void* comm, void* status, MPI_Fint* error),
                   (data, count, type, to, tag, place, place_count, place_type, from, place_tag, comm, status, error),
                   Sending{{count, type, to, comm}, {Activity::receive, error}})
QUADRILLE_RECORDED(sendrecv_replace,
                   (void* data, void* count, void* type, void* to, void* tag, void* from, void* from_tag, void* comm,
                    void* status, MPI_Fint* error),
                   (data, count, type, to, tag, from, from_tag, comm, status, error),
                   Sending{{count, type, to, comm}, {Activity::receive, error}})
QUADRILLE_TIMED(recv, receive,
                (void* data, void* count, void* type, void* peer, void* tag, void* comm, void* status, MPI_Fint* error),
                (data, count, type, peer, tag, comm, status, error))
QUADRILLE_TIMED(irecv, receive, QUADRILLE_MESSAGE_AND_REQUEST, (data, count, type, peer, tag, comm, request, error))
QUADRILLE_TIMED(mrecv, receive, (void* data, void* count, void* type, void* message, void* status, MPI_Fint* error),
                (data, count, type, message, status, error))
QUADRILLE_TIMED(imrecv, receive, (void* data, void* count, void* type, void* message, void* request, MPI_Fint* error),
                (data, count, type, message, request, error))
#endif

QUADRILLE_RECORDED(start, (void* request, MPI_Fint* error), (request, error),
                   Starting{1, request, {Activity::send, error}})
QUADRILLE_RECORDED(startall, (void* count, void* requests, MPI_Fint* error), (count, requests, error),
                   Starting{number(count), requests, {Activity::send, error}})
QUADRILLE_RECORDED(request_free, (void* request, MPI_Fint* error), (request, error), Freeing{request})

QUADRILLE_TIMED(probe, receive, (void* peer, void* tag, void* comm, void* status, MPI_Fint* error),
                (peer, tag, comm, status, error))
QUADRILLE_TIMED(mprobe, receive, (void* peer, void* tag, void* comm, void* message, void* status, MPI_Fint* error),
                (peer, tag, comm, message, status, error))
QUADRILLE_TIMED(iprobe, test, (void* peer, void* tag, void* comm, void* flag, void* status, MPI_Fint* error),
                (peer, tag, comm, flag, status, error))
QUADRILLE_TIMED(improbe, test,
                (void* peer, void* tag, void* comm, void* flag, void* message, void* status, MPI_Fint* error),
                (peer, tag, comm, flag, message, status, error))
QUADRILLE_TIMED(wait, wait, (void* request, void* status, MPI_Fint* error), (request, status, error))
QUADRILLE_TIMED(waitall, wait, (void* count, void* requests, void* statuses, MPI_Fint* error),
                (count, requests, statuses, error))
QUADRILLE_TIMED(waitany, wait, (void* count, void* requests, void* index, void* status, MPI_Fint* error),
                (count, requests, index, status, error))
QUADRILLE_TIMED(waitsome, wait,
                (void* count, void* requests, void* ended, void* indices, void* statuses, MPI_Fint* error),
                (count, requests, ended, indices, statuses, error))
QUADRILLE_TIMED(test, test, (void* request, void* flag, void* status, MPI_Fint* error), (request, flag, status, error))
QUADRILLE_TIMED(testall, test, (void* count, void* requests, void* flag, void* statuses, MPI_Fint* error),
                (count, requests, flag, statuses, error))
QUADRILLE_TIMED(testany, test, (void* count, void* requests, void* index, void* flag, void* status, MPI_Fint* error),
                (count, requests, index, flag, status, error))
QUADRILLE_TIMED(testsome, test,
                (void* count, void* requests, void* ended, void* indices, void* statuses, MPI_Fint* error),
                (count, requests, ended, indices, statuses, error))

}  // extern "C"
// NOLINTEND(readability-function-size,bugprone-macro-parentheses)

}  // namespace quadrille::interpose
