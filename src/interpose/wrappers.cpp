// The functions of MPI that the drop-in takes the place of. Each asks whether the call is to be served; whatever is not
// plainly in order goes down to MPI, whose error handling is what the program expects.

#include <fmt/format.h>

#include <cstdio>
#include <quadrille/error.hpp>
#include <quadrille/export.hpp>

#include "api/calls.hpp"
#include "interpose/dropin.hpp"

namespace quadrille::interpose {

namespace {

// Serves the call on the communicator's context, or hands it down where there is none. Errors go to the communicator's
// error handler.
template <class HandDown>
int serve(MPI_Comm comm, bool in_order, const detail::Call& call, HandDown&& hand_down) {
  DropIn& drop_in = DropIn::get();
  try {
    engine::Context* context = in_order ? drop_in.context(call.collective, comm) : nullptr;
    api::Prepared task = context ? api::prepare(*context, call, {}, api::Handles::borrowed) : nullptr;
    const bool served = task && !context->exceeds_memory(*task);
    drop_in.count(call.collective, served);
    if (!served) return hand_down();
    context->run(std::move(task));
    return MPI_SUCCESS;
  } catch (const Error& error) {
    fmt::print(stderr, "quadrille: {}\n", error.what());
    PMPI_Comm_call_errhandler(comm, error.code());
    return error.code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "quadrille: {}\n", error.what());
    PMPI_Comm_call_errhandler(comm, MPI_ERR_INTERN);
    return MPI_ERR_INTERN;
  }
}

template <class HandDown>
int bcast(void* data, std::int64_t count, MPI_Datatype type, int root, MPI_Comm comm, HandDown&& hand_down) {
  const bool in_order = count >= 0 && root >= 0 && type != MPI_DATATYPE_NULL;
  return serve(comm, in_order, detail::moved(Collective::bcast, {}, {data, count, type}, root), hand_down);
}

template <class HandDown>
int allreduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              HandDown&& hand_down) {
  const bool in_order = count >= 0 && type != MPI_DATATYPE_NULL && op != MPI_OP_NULL;
  return serve(comm, in_order, detail::reduced(Collective::allreduce, {input, count, type}, {output, count, type}, op),
               hand_down);
}

template <class HandDown>
int alltoallv(const detail::UserBuffer& input, const detail::UserBuffer& output, MPI_Comm comm, HandDown&& hand_down) {
  const bool in_order =
      input.address != MPI_IN_PLACE && input.type != MPI_DATATYPE_NULL && output.type != MPI_DATATYPE_NULL;
  return serve(comm, in_order, detail::moved(Collective::alltoallv, input, output), hand_down);
}

// One side of an alltoallv as MPI's callers give it.
template <class Count, class Displacement>
detail::UserBuffer side(const void* address, const Count* counts, const Displacement* displacements,
                        MPI_Datatype type) {
  return {.address = address, .type = type, .counts = counts, .displacements = displacements};
}

int begin(int code) {
  if (code != MPI_SUCCESS) return code;
  try {
    DropIn::get().begin();
  } catch (const std::exception& error) {
    fmt::print(stderr, "quadrille: {}; the drop-in stays out of the way\n", error.what());
  }
  return code;
}

}  // namespace

}  // namespace quadrille::interpose

using namespace quadrille;  // NOLINT(google-global-names-in-headers): no header

// NOLINTBEGIN(readability-function-size): MPI's parameters are as many as they are.
extern "C" {

QUADRILLE_EXPORT int MPI_Init(int* argc, char*** argv) {
  return interpose::begin(PMPI_Init(argc, argv));
}

QUADRILLE_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return interpose::begin(PMPI_Init_thread(argc, argv, required, provided));
}

QUADRILLE_EXPORT int MPI_Finalize() {
  interpose::DropIn::get().end();
  return PMPI_Finalize();
}

QUADRILLE_EXPORT int MPI_Barrier(MPI_Comm comm) {
  return interpose::serve(comm, true, detail::moved(Collective::barrier, {}, {}), [&] { return PMPI_Barrier(comm); });
}

QUADRILLE_EXPORT int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return interpose::bcast(data, count, type, root, comm, [&] { return PMPI_Bcast(data, count, type, root, comm); });
}

QUADRILLE_EXPORT int MPI_Allreduce(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm) {
  return interpose::allreduce(input, output, count, type, op, comm,
                              [&] { return PMPI_Allreduce(input, output, count, type, op, comm); });
}

QUADRILLE_EXPORT int MPI_Alltoallv(const void* input, const int* send_counts, const int* send_displacements,
                                   MPI_Datatype send_type, void* output, const int* receive_counts,
                                   const int* receive_displacements, MPI_Datatype receive_type, MPI_Comm comm) {
  return interpose::alltoallv(interpose::side(input, send_counts, send_displacements, send_type),
                              interpose::side(output, receive_counts, receive_displacements, receive_type), comm, [&] {
                                return PMPI_Alltoallv(input, send_counts, send_displacements, send_type, output,
                                                      receive_counts, receive_displacements, receive_type, comm);
                              });
}

#if MPI_VERSION >= 4

QUADRILLE_EXPORT int MPI_Bcast_c(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return interpose::bcast(data, count, type, root, comm, [&] { return PMPI_Bcast_c(data, count, type, root, comm); });
}

QUADRILLE_EXPORT int MPI_Allreduce_c(const void* input, void* output, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                     MPI_Comm comm) {
  return interpose::allreduce(input, output, count, type, op, comm,
                              [&] { return PMPI_Allreduce_c(input, output, count, type, op, comm); });
}

QUADRILLE_EXPORT int MPI_Alltoallv_c(const void* input, const MPI_Count* send_counts,
                                     const MPI_Aint* send_displacements, MPI_Datatype send_type, void* output,
                                     const MPI_Count* receive_counts, const MPI_Aint* receive_displacements,
                                     MPI_Datatype receive_type, MPI_Comm comm) {
  return interpose::alltoallv(interpose::side(input, send_counts, send_displacements, send_type),
                              interpose::side(output, receive_counts, receive_displacements, receive_type), comm, [&] {
                                return PMPI_Alltoallv_c(input, send_counts, send_displacements, send_type, output,
                                                        receive_counts, receive_displacements, receive_type, comm);
                              });
}

#endif

}  // extern "C"
// NOLINTEND(readability-function-size)
