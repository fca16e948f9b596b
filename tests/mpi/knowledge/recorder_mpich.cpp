// MPICH over UCX sends each message by a function of UCX, in place of which this program has its own. With
// MPIR_CVAR_NOLOCAL=1 all messages go there, as if each rank had a node of its own. A rank's endpoint is known by a
// message that is sent to it alone. What a rank sends to itself is left out.

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>

#include <cstdint>

#include "recorder.hpp"

namespace {

using quadrille::Rank;
using quadrille::knowledge::Traffic;

std::map<const void*, Traffic> by_endpoint;
std::map<const void*, Rank> rank_of;
bool records = false;
int rank = 0;

template <class Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// The beginning of UCX's ucp_request_param_t, and its functions for data that is not contiguous.
struct Parameters {
  std::uint32_t fields;
  std::uint32_t flags;
  void* request;
  void* callback;
  std::uint64_t datatype;
};
constexpr std::uint32_t has_datatype = 8;
struct Functions {
  void* (*start_pack)(void* context, const void* data, std::size_t count);
  void* (*start_unpack)(void* context, void* data, std::size_t count);
  std::size_t (*packed_size)(void* state);
  std::size_t (*pack)(void* state, std::size_t offset, void* to, std::size_t most);
  int (*unpack)(void* state, std::size_t offset, const void* from, std::size_t bytes);
  void (*finish)(void* state);
};
struct Datatype {
  const Functions* functions;
  void* context;
};
std::map<std::uint64_t, Datatype> datatypes;

std::size_t bytes_of(const void* data, std::size_t count, const Parameters& parameters) {
  if ((parameters.fields & has_datatype) == 0) return count;
  const auto [functions, context] = datatypes.at(parameters.datatype);
  // It is not finished: that would release the datatype, which MPICH keeps for the message.
  return functions->packed_size(functions->start_pack(context, data, count));
}

void record(const void* endpoint, std::size_t bytes) {
  Traffic& to = by_endpoint[endpoint];
  ++to.messages;
  to.bytes += static_cast<std::int64_t>(bytes);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int ucp_dt_create_generic(const Functions* functions, void* context,
                                                                            std::uint64_t* datatype) {
  static auto* const next = behind<int(const Functions*, void*, std::uint64_t*)>("ucp_dt_create_generic");
  const int status = next(functions, context, datatype);
  // MPICH's functions are on its stack.
  if (status == 0) datatypes[*datatype] = {new Functions(*functions), context};
  return status;
}

using Send = void*(void*, const void*, std::size_t, std::uint64_t, const Parameters*);

extern "C" __attribute__((visibility("default"))) void* ucp_tag_send_nbx(void* endpoint, const void* data,
                                                                         std::size_t count, std::uint64_t tag,
                                                                         const Parameters* parameters) {
  static auto* const next = behind<Send>("ucp_tag_send_nbx");
  if (records) record(endpoint, bytes_of(data, count, *parameters));
  return next(endpoint, data, count, tag, parameters);
}

// More ranks than cores: a rank that waits lets others run.
extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  static auto* const next = behind<unsigned(void*)>("ucp_worker_progress");
  const unsigned events = next(worker);
  if (events == 0) sched_yield();
  return events;
}

namespace quadrille::test {

bool can_record() {
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int missing = 0;
  for (int distance = 0; distance < ranks; ++distance) {
    const int to = (rank + distance) % ranks;
    const int from = (rank - distance + ranks) % ranks;
    int out = rank;
    int in = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    start_recording();
    MPI_Isend(&out, 1, MPI_INT, to, 0, MPI_COMM_WORLD, &request);
    records = false;
    missing += by_endpoint.size() == 1 || to == rank ? 0 : 1;
    if (!by_endpoint.empty()) rank_of[by_endpoint.begin()->first] = to;
    MPI_Recv(&in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Allreduce(MPI_IN_PLACE, &missing, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return missing == 0;
}

void start_recording() {
  by_endpoint.clear();
  records = true;
}

std::map<Rank, knowledge::Traffic> stop_recording() {
  records = false;
  std::map<Rank, knowledge::Traffic> all;
  for (const auto& [endpoint, traffic] : by_endpoint) {
    const Rank to = rank_of.at(endpoint);
    if (to != rank) all[to] = traffic;
  }
  return all;
}

}  // namespace quadrille::test
