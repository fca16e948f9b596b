// Functions of messages that nothing is done with but to record them in a trace; those that may wait are in
// messages.cpp, too. A message is counted by its sender alone.

#include <mpi.h>
#include <quadrille/detail/export.h>

#include <span>

#include "interpose/next.hpp"
#include "interpose/tracer.hpp"

namespace quadrille::interpose {

using trace::Activity;

namespace {

template <class Start>
int traced_start(std::span<const MPI_Request> requests, const Start& start) {
  const int code = timed(Activity::send, start);
  if (tracer && code == MPI_SUCCESS) tracer->started(requests);
  return code;
}

}  // namespace

#define QUADRILLE_MESSAGE const void *data, Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm
#define QUADRILLE_TRACED_SEND(name)                                                                          \
  QUADRILLE_EXPORT int MPI_##name(QUADRILLE_MESSAGE) {                                                       \
    return traced_send(peer, count, type, comm, QUADRILLE_NEXT(name, (data, count, type, peer, tag, comm))); \
  }
#define QUADRILLE_TRACED_ISEND(name)                                                                                  \
  QUADRILLE_EXPORT int MPI_##name(QUADRILLE_MESSAGE, MPI_Request* request) {                                          \
    return traced_send(peer, count, type, comm, QUADRILLE_NEXT(name, (data, count, type, peer, tag, comm, request))); \
  }
#define QUADRILLE_TRACED_SEND_INIT(name)                                                          \
  QUADRILLE_EXPORT int MPI_##name(QUADRILLE_MESSAGE, MPI_Request* request) {                      \
    return traced_send_init(peer, count, type, comm, request,                                     \
                            QUADRILLE_NEXT(name, (data, count, type, peer, tag, comm, request))); \
  }
#define QUADRILLE_TRACED_FORMS(suffix)                                                                                 \
  QUADRILLE_TRACED_SEND(Bsend##suffix)                                                                                 \
  QUADRILLE_TRACED_ISEND(Isend##suffix)                                                                                \
  QUADRILLE_TRACED_ISEND(Ibsend##suffix)                                                                               \
  QUADRILLE_TRACED_ISEND(Issend##suffix)                                                                               \
  QUADRILLE_TRACED_ISEND(Irsend##suffix)                                                                               \
  QUADRILLE_TRACED_SEND_INIT(Send_init##suffix)                                                                        \
  QUADRILLE_TRACED_SEND_INIT(Bsend_init##suffix)                                                                       \
  QUADRILLE_TRACED_SEND_INIT(Ssend_init##suffix)                                                                       \
  QUADRILLE_TRACED_SEND_INIT(Rsend_init##suffix)                                                                       \
  QUADRILLE_EXPORT int MPI_Irecv##suffix(void* data, Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
                                         MPI_Request* request) {                                                       \
    return timed(Activity::receive, QUADRILLE_NEXT(Irecv##suffix, (data, count, type, peer, tag, comm, request)));     \
  }                                                                                                                    \
  QUADRILLE_EXPORT int MPI_Imrecv##suffix(void* data, Count count, MPI_Datatype type, MPI_Message* message,            \
                                          MPI_Request* request) {                                                      \
    return timed(Activity::receive, QUADRILLE_NEXT(Imrecv##suffix, (data, count, type, message, request)));            \
  }                                                                                                                    \
  QUADRILLE_EXPORT int MPI_Sendrecv_replace##suffix(void* data, Count count, MPI_Datatype type, int to, int tag,       \
                                                    int from, int from_tag, MPI_Comm comm, MPI_Status* status) {       \
    return traced_send(                                                                                                \
        to, count, type, comm,                                                                                         \
        QUADRILLE_NEXT(Sendrecv_replace##suffix, (data, count, type, to, tag, from, from_tag, comm, status)),          \
        Activity::receive);                                                                                            \
  }
#define QUADRILLE_TRACED_ISENDRECV(suffix)                                                                            \
  QUADRILLE_EXPORT int MPI_Isendrecv##suffix(const void* data, Count count, MPI_Datatype type, int to, int tag,       \
                                             void* place, Count place_count, MPI_Datatype place_type, int from,       \
                                             int place_tag, MPI_Comm comm, MPI_Request* request) {                    \
    return traced_send(to, count, type, comm,                                                                         \
                       QUADRILLE_NEXT(Isendrecv##suffix, (data, count, type, to, tag, place, place_count, place_type, \
                                                          from, place_tag, comm, request)));                          \
  }                                                                                                                   \
  QUADRILLE_EXPORT int MPI_Isendrecv_replace##suffix(void* data, Count count, MPI_Datatype type, int to, int tag,     \
                                                     int from, int from_tag, MPI_Comm comm, MPI_Request* request) {   \
    return traced_send(                                                                                               \
        to, count, type, comm,                                                                                        \
        QUADRILLE_NEXT(Isendrecv_replace##suffix, (data, count, type, to, tag, from, from_tag, comm, request)));      \
  }

// NOLINTBEGIN(readability-function-size): MPI's parameters are as many as they are.
namespace of_int {

using Count = int;
extern "C" {
QUADRILLE_TRACED_FORMS()
#if QUADRILLE_MPI_ISENDRECV
QUADRILLE_TRACED_ISENDRECV()
#endif
}  // extern "C"

}  // namespace of_int

#if QUADRILLE_MPI_LARGE_COUNTS
namespace large_counts {

using Count = MPI_Count;
extern "C" {
QUADRILLE_TRACED_SEND(Send_c)
QUADRILLE_TRACED_SEND(Ssend_c)
QUADRILLE_TRACED_SEND(Rsend_c)
QUADRILLE_TRACED_FORMS(_c)
#if QUADRILLE_MPI_ISENDRECV
QUADRILLE_TRACED_ISENDRECV(_c)
#endif
QUADRILLE_EXPORT int MPI_Recv_c(void* data, Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                                MPI_Status* status) {
  return timed(Activity::receive, QUADRILLE_NEXT(Recv_c, (data, count, type, peer, tag, comm, status)));
}
QUADRILLE_EXPORT int MPI_Mrecv_c(void* data, Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  return timed(Activity::receive, QUADRILLE_NEXT(Mrecv_c, (data, count, type, message, status)));
}
QUADRILLE_EXPORT int MPI_Sendrecv_c(const void* data, Count count, MPI_Datatype type, int to, int tag, void* place,
                                    Count place_count, MPI_Datatype place_type, int from, int place_tag, MPI_Comm comm,
                                    MPI_Status* status) {
  return traced_send(to, count, type, comm,
                     QUADRILLE_NEXT(Sendrecv_c, (data, count, type, to, tag, place, place_count, place_type, from,
                                                 place_tag, comm, status)),
                     Activity::receive);
}
}  // extern "C"

}  // namespace large_counts
#endif

extern "C" {

#if QUADRILLE_MPI_PARTITIONED
// Started, it counts as one message, however its partitions travel.
QUADRILLE_EXPORT int MPI_Psend_init(const void* data, int partitions, MPI_Count count, MPI_Datatype type, int peer,
                                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return traced_send_init(peer, partitions * count, type, comm, request,
                          QUADRILLE_NEXT(Psend_init, (data, partitions, count, type, peer, tag, comm, info, request)));
}
#endif

QUADRILLE_EXPORT int MPI_Start(MPI_Request* request) {
  return traced_start({request, 1}, QUADRILLE_NEXT(Start, (request)));
}

QUADRILLE_EXPORT int MPI_Startall(int count, MPI_Request* requests) {
  return traced_start({requests, static_cast<std::size_t>(count)}, QUADRILLE_NEXT(Startall, (count, requests)));
}

QUADRILLE_EXPORT int MPI_Request_free(MPI_Request* request) {
  if (tracer) tracer->freed(*request);
  return QUADRILLE_NEXT(Request_free, (request))();
}

QUADRILLE_EXPORT int MPI_Iprobe(int peer, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return timed(Activity::test, QUADRILLE_NEXT(Iprobe, (peer, tag, comm, flag, status)));
}

QUADRILLE_EXPORT int MPI_Improbe(int peer, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                                 MPI_Status* status) {
  return timed(Activity::test, QUADRILLE_NEXT(Improbe, (peer, tag, comm, flag, message, status)));
}

QUADRILLE_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return timed(Activity::test, QUADRILLE_NEXT(Test, (request, flag, status)));
}

QUADRILLE_EXPORT int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  return timed(Activity::test, QUADRILLE_NEXT(Testall, (count, requests, flag, statuses)));
}

QUADRILLE_EXPORT int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  return timed(Activity::test, QUADRILLE_NEXT(Testany, (count, requests, index, flag, status)));
}

QUADRILLE_EXPORT int MPI_Testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  return timed(Activity::test, QUADRILLE_NEXT(Testsome, (count, requests, ended, indices, statuses)));
}

}  // extern "C"
// NOLINTEND(readability-function-size)

}  // namespace quadrille::interpose
