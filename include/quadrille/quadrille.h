#ifndef QUADRILLE_QUADRILLE_H
#define QUADRILLE_QUADRILLE_H

/**
 * \file
 * The C interface of Quadrille: collective communication on top of MPI.
 *
 *     quadrille_comm comm;
 *     quadrille_comm_create(MPI_COMM_WORLD, &comm);
 *     quadrille_allreduce(mine, sum, 1000, MPI_DOUBLE, MPI_SUM, comm, NULL);
 *     quadrille_comm_free(&comm);
 *
 * **Calls.** All ranks must make the same collective calls on a communicator in the same order, with matching
 * arguments. These have MPI's meaning and order, with counts of type MPI_Count; MPI_IN_PLACE may be used where MPI
 * allows it. Each collective has three forms: blocking; non-blocking (i...), which returns a request; and persistent
 * (..._init), which returns a request to be started any number of times. `options` may be NULL.
 *
 * **Ownership.** Buffers remain the caller's, and must not be used while a request is in progress. Datatypes,
 * operations and arrays of counts, displacements or types may be freed or changed as soon as a call has returned.
 *
 * **Progress.** Pending collectives, of all communicators, advance in every call of this library that waits or tests:
 * blocking collectives, quadrille_wait, quadrille_test and quadrille_request_free. They do not advance inside MPI's own
 * calls, nor while the program computes, unless QUADRILLE_PROGRESS=1 starts a progress thread.
 *
 * **Threads.** The library may be called wherever the program may call MPI. With MPI_THREAD_MULTIPLE several threads
 * may call it at the same time, but not with the same request; calls on one communicator must be ordered among the
 * threads in the same way on all ranks.
 *
 * **Errors.** Every function that returns int returns MPI_SUCCESS or an error code of MPI; quadrille_error_text() says
 * what is wrong and how to correct it. Error handlers of MPI are not invoked, except by MPICH for an error in MPI
 * itself. See <quadrille/quadrille.hpp> for which errors leave a communicator usable.
 */

#include <mpi.h>

#include "quadrille/detail/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* C has no other way. NOLINTBEGIN(modernize-use-using, readability-identifier-naming) */
/** A communicator of Quadrille; NULL: none. */
typedef struct quadrille_comm_s* quadrille_comm;

/** A non-blocking collective in progress, or a persistent one; NULL: none. */
typedef struct quadrille_request_s* quadrille_request;

/** Memory of every rank that the others access through windows of MPI; NULL: none. */
typedef struct quadrille_window_s* quadrille_window;

/**
 * Options of one call, initialised with {0}. They must be the same on all ranks, except for `memory` of an alltoallv or
 * alltoallw in place and of alltoallv_in_place.
 */
typedef struct quadrille_options {
  /**
   * An algorithm's name as `quadrille list` prints it, with its width where it has one ("bruck:4"). NULL: selected by
   * the library.
   */
  const char* algorithm;
  /**
   * If not 0, a reduction is evaluated from left to right in rank order, so that its result is reproducible to the bit.
   */
  int fixed_order;
  /**
   * An upper bound, in bytes per rank, on what the call allocates beyond the caller's buffers; 0: no bound but that of
   * QUADRILLE_MEMORY. A call that would exceed it fails on every rank. An all-to-all in place is always bounded: there,
   * 0 means one hundredth of the data, and at least 64 KiB.
   */
  MPI_Count memory;
} quadrille_options;
/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

/**
 * Creates a communicator with the ranks of `parent`, an intracommunicator, which may be freed afterwards. Collective
 * over `parent`. Environment variables are those of its rank 0. Free it with quadrille_comm_free.
 */
QUADRILLE_EXPORT int quadrille_comm_create(MPI_Comm parent, quadrille_comm* comm);
/** Frees a communicator and sets it to NULL. Requests on it remain valid. */
QUADRILLE_EXPORT int quadrille_comm_free(quadrille_comm* comm);
/** The rank of this process in the communicator. */
QUADRILLE_EXPORT int quadrille_comm_rank(quadrille_comm comm, int* rank);
/** The number of ranks. */
QUADRILLE_EXPORT int quadrille_comm_size(quadrille_comm comm, int* size);

/**
 * Makes a communicator with the ranks of `comm`, an intracommunicator, in an order in which ranks that send each other
 * much are on the same nodes and in the same racks. Each rank passes the `neighbours` ranks of its program's grid or
 * graph that it sends to, MPI_PROC_NULL for none, and how many bytes a message has; NULL: all as many. The process that
 * has rank r in *reordered is to take over the part of the program that rank r has described. Where no gain is
 * predicted, ranks keep their order. Collective over `comm`. Free it with MPI_Comm_free.
 */
QUADRILLE_EXPORT int quadrille_reordered(MPI_Comm comm, int neighbours, const int ranks[], const MPI_Count bytes[],
                                         MPI_Comm* reordered);

/** Starts a run of a persistent request. The previous run must be complete. */
QUADRILLE_EXPORT int quadrille_start(quadrille_request request);
/**
 * Sets *done to whether the request is complete; if it is not, first advances all pending collectives of this process.
 * A complete request is freed and set to NULL, unless it is persistent, also if its collective has failed, which the
 * code says. A NULL request is complete.
 */
QUADRILLE_EXPORT int quadrille_test(quadrille_request* request, int* done);
/**
 * Waits until the request is complete, and advances all pending collectives of this process meanwhile. Then frees it
 * and sets it to NULL, unless it is persistent, also if its collective has failed, which the code says.
 */
QUADRILLE_EXPORT int quadrille_wait(quadrille_request* request);
/** Waits for a run in progress, frees the request and sets it to NULL. */
QUADRILLE_EXPORT int quadrille_request_free(quadrille_request* request);

/**
 * Registers a callback: function(data) runs when the request is complete, of a persistent one after each completion. It
 * replaces the one registered before. It runs inside a later call that waits or tests, in whatever thread, or in the
 * progress thread; never inside another callback, and not after a run that failed. It must not free the request.
 */
QUADRILLE_EXPORT int quadrille_then(quadrille_request request, void (*function)(void* data), void* data);
/**
 * Chains `next`, a persistent request of the same communicator, to `request`: it begins on each rank as soon as
 * `request` is complete there. If `request` is persistent, this holds for each of its runs from now on. Each is waited
 * for by itself.
 */
QUADRILLE_EXPORT int quadrille_then_start(quadrille_request request, quadrille_request next);

/** The message of the last call that failed in this thread, valid until the next one; "" if there is none. */
QUADRILLE_EXPORT const char* quadrille_error_text(void);
/**
 * The most memory, in bytes, that this process has allocated at one time beyond the callers' buffers, for scratch and
 * packing, over all communicators.
 */
QUADRILLE_EXPORT MPI_Count quadrille_peak_bytes(void);

/**
 * Exposes memory of `bytes` on this rank, which the other ranks write and read by themselves, through windows of MPI.
 * Here it is allocated; *memory is set to its address. See <quadrille/window.hpp> for who owns a range when, and for
 * what happens where the MPI makes no window. Collective over `comm`, which may be freed before the window.
 */
QUADRILLE_EXPORT int quadrille_window_allocate(MPI_Count bytes, quadrille_comm comm, void** memory,
                                               quadrille_window* window);
/** The same with memory of the caller, which must outlive the window. */
QUADRILLE_EXPORT int quadrille_window_create(void* memory, MPI_Count bytes, quadrille_comm comm,
                                             quadrille_window* window);
/** Frees a window and sets it to NULL. Collective; waits for what is pending here, and for all ranks. */
QUADRILLE_EXPORT int quadrille_window_free(quadrille_window* window);
/** Whether data goes through windows: 1, or, on all ranks alike, 0: by messages. */
QUADRILLE_EXPORT int quadrille_window_one_sided(quadrille_window window, int* one_sided);
/** By what data goes, and why by messages, for people; valid as long as the window. NULL on an error. */
QUADRILLE_EXPORT const char* quadrille_window_transport(quadrille_window window);

/* The declarations between the braces below are written by cmake/c_declarations.py, the comments by hand. */

/** Returns, or completes, when all ranks have called it. */
/**@{*/
QUADRILLE_EXPORT int quadrille_barrier(quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ibarrier(quadrille_comm comm, const quadrille_options* options,
                                        quadrille_request* request);
QUADRILLE_EXPORT int quadrille_barrier_init(quadrille_comm comm, const quadrille_options* options,
                                            quadrille_request* request);
/**@}*/

/** Broadcasts the data of the root to all ranks. */
/**@{*/
QUADRILLE_EXPORT int quadrille_bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, quadrille_comm comm,
                                     const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ibcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, quadrille_comm comm,
                                      const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_bcast_init(void* buffer, MPI_Count count, MPI_Datatype type, int root,
                                          quadrille_comm comm, const quadrille_options* options,
                                          quadrille_request* request);
/**@}*/

/** Combines the data of all ranks, element by element, at the root. */
/**@{*/
QUADRILLE_EXPORT int quadrille_reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                      int root, quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                       MPI_Op op, int root, quadrille_comm comm, const quadrille_options* options,
                                       quadrille_request* request);
QUADRILLE_EXPORT int quadrille_reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                           MPI_Op op, int root, quadrille_comm comm, const quadrille_options* options,
                                           quadrille_request* request);
/**@}*/

/** Combines the data of all ranks, element by element, on all ranks. */
/**@{*/
QUADRILLE_EXPORT int quadrille_allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                         MPI_Op op, quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                          MPI_Op op, quadrille_comm comm, const quadrille_options* options,
                                          quadrille_request* request);
QUADRILLE_EXPORT int quadrille_allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                              MPI_Op op, quadrille_comm comm, const quadrille_options* options,
                                              quadrille_request* request);
/**@}*/

/** Gathers a block from each rank at the root, in rank order. */
/**@{*/
QUADRILLE_EXPORT int quadrille_gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      MPI_Count recvcount, MPI_Datatype recvtype, int root, quadrille_comm comm,
                                      const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       MPI_Count recvcount, MPI_Datatype recvtype, int root, quadrille_comm comm,
                                       const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_gather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                           quadrille_comm comm, const quadrille_options* options,
                                           quadrille_request* request);
/**@}*/

/** Gathers blocks of different lengths at the root. `recvdispls` may be NULL: contiguous blocks. */
/**@{*/
QUADRILLE_EXPORT int quadrille_gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       const MPI_Count recvcounts[], const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                       int root, quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                        MPI_Datatype recvtype, int root, quadrille_comm comm,
                                        const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_gatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                            void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                            MPI_Datatype recvtype, int root, quadrille_comm comm,
                                            const quadrille_options* options, quadrille_request* request);
/**@}*/

/** Scatters the root's blocks, one to each rank, in rank order. */
/**@{*/
QUADRILLE_EXPORT int quadrille_scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       MPI_Count recvcount, MPI_Datatype recvtype, int root, quadrille_comm comm,
                                       const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        MPI_Count recvcount, MPI_Datatype recvtype, int root, quadrille_comm comm,
                                        const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_scatter_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                            quadrille_comm comm, const quadrille_options* options,
                                            quadrille_request* request);
/**@}*/

/** Scatters blocks of different lengths. `senddispls` may be NULL: contiguous blocks. */
/**@{*/
QUADRILLE_EXPORT int quadrille_scatterv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                        MPI_Datatype recvtype, int root, quadrille_comm comm,
                                        const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_iscatterv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                         MPI_Datatype recvtype, int root, quadrille_comm comm,
                                         const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_scatterv_init(const void* sendbuf, const MPI_Count sendcounts[],
                                             const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                             MPI_Count recvcount, MPI_Datatype recvtype, int root, quadrille_comm comm,
                                             const quadrille_options* options, quadrille_request* request);
/**@}*/

/** Gathers a block from each rank on all ranks, in rank order. */
/**@{*/
QUADRILLE_EXPORT int quadrille_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         MPI_Count recvcount, MPI_Datatype recvtype, quadrille_comm comm,
                                         const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                          quadrille_comm comm, const quadrille_options* options,
                                          quadrille_request* request);
QUADRILLE_EXPORT int quadrille_allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                              quadrille_comm comm, const quadrille_options* options,
                                              quadrille_request* request);
/**@}*/

/** Gathers blocks of different lengths on all ranks. `recvdispls` may be NULL: contiguous blocks. */
/**@{*/
QUADRILLE_EXPORT int quadrille_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                          MPI_Datatype recvtype, quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                           MPI_Datatype recvtype, quadrille_comm comm, const quadrille_options* options,
                                           quadrille_request* request);
QUADRILLE_EXPORT int quadrille_allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                               void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                               MPI_Datatype recvtype, quadrille_comm comm,
                                               const quadrille_options* options, quadrille_request* request);
/**@}*/

/** Sends a block to each rank and receives one from each, in rank order. In place, within options->memory. */
/**@{*/
QUADRILLE_EXPORT int quadrille_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        MPI_Count recvcount, MPI_Datatype recvtype, quadrille_comm comm,
                                        const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         MPI_Count recvcount, MPI_Datatype recvtype, quadrille_comm comm,
                                         const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                             quadrille_comm comm, const quadrille_options* options,
                                             quadrille_request* request);
/**@}*/

/**
 * alltoall with blocks of different lengths. Displacements may be NULL: contiguous blocks. In place, the blocks that
 * two ranks exchange have equal lengths, and the call stays within options->memory, at least 256 bytes, which may
 * differ between ranks. For other counts see quadrille_alltoallv_in_place.
 */
/**@{*/
QUADRILLE_EXPORT int quadrille_alltoallv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                         MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                                         const MPI_Aint recvdispls[], MPI_Datatype recvtype, quadrille_comm comm,
                                         const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ialltoallv(const void* sendbuf, const MPI_Count sendcounts[],
                                          const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                          const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                          MPI_Datatype recvtype, quadrille_comm comm, const quadrille_options* options,
                                          quadrille_request* request);
QUADRILLE_EXPORT int quadrille_alltoallv_init(const void* sendbuf, const MPI_Count sendcounts[],
                                              const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                              const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                              MPI_Datatype recvtype, quadrille_comm comm,
                                              const quadrille_options* options, quadrille_request* request);
/**@}*/

/** alltoallv with a datatype for each block, and displacements in bytes; in place, too. */
/**@{*/
QUADRILLE_EXPORT int quadrille_alltoallw(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                         const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                                         const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                         quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ialltoallw(const void* sendbuf, const MPI_Count sendcounts[],
                                          const MPI_Aint senddispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                                          const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                          const MPI_Datatype recvtypes[], quadrille_comm comm,
                                          const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_alltoallw_init(const void* sendbuf, const MPI_Count sendcounts[],
                                              const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                              void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                              const MPI_Datatype recvtypes[], quadrille_comm comm,
                                              const quadrille_options* options, quadrille_request* request);
/**@}*/

/**
 * All-to-all within one buffer, with any counts and displacements. These count elements; displacements may be NULL:
 * contiguous blocks. Blocks to be sent may overlap blocks to be received in any way; blocks of one direction must not
 * overlap each other. Only blocks to be received are written. Elements must not overlap: the datatype's extent must be
 * at least its true extent. Gaps in a datatype are not written.
 *
 * Allocates at most options->memory bytes, which may differ between ranks; the default is one hundredth of the data, at
 * least 64 KiB. An error on one rank is returned on all ranks, and no data has moved.
 */
/**@{*/
QUADRILLE_EXPORT int quadrille_alltoallv_in_place(void* buffer, const MPI_Count sendcounts[],
                                                  const MPI_Aint senddispls[], const MPI_Count recvcounts[],
                                                  const MPI_Aint recvdispls[], MPI_Datatype type, quadrille_comm comm,
                                                  const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ialltoallv_in_place(void* buffer, const MPI_Count sendcounts[],
                                                   const MPI_Aint senddispls[], const MPI_Count recvcounts[],
                                                   const MPI_Aint recvdispls[], MPI_Datatype type, quadrille_comm comm,
                                                   const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_alltoallv_in_place_init(void* buffer, const MPI_Count sendcounts[],
                                                       const MPI_Aint senddispls[], const MPI_Count recvcounts[],
                                                       const MPI_Aint recvdispls[], MPI_Datatype type,
                                                       quadrille_comm comm, const quadrille_options* options,
                                                       quadrille_request* request);
/**@}*/

/**
 * Combines the data of all ranks, element by element, and scatters the result: rank i receives block i, of
 * recvcounts[i] elements.
 */
/**@{*/
QUADRILLE_EXPORT int quadrille_reduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                              MPI_Datatype type, MPI_Op op, quadrille_comm comm,
                                              const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ireduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                               MPI_Datatype type, MPI_Op op, quadrille_comm comm,
                                               const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_reduce_scatter_init(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                                   MPI_Datatype type, MPI_Op op, quadrille_comm comm,
                                                   const quadrille_options* options, quadrille_request* request);
/**@}*/

/** reduce_scatter with blocks of equal length; `count` is that of one block. */
/**@{*/
QUADRILLE_EXPORT int quadrille_reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count count,
                                                    MPI_Datatype type, MPI_Op op, quadrille_comm comm,
                                                    const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count count,
                                                     MPI_Datatype type, MPI_Op op, quadrille_comm comm,
                                                     const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count count,
                                                         MPI_Datatype type, MPI_Op op, quadrille_comm comm,
                                                         const quadrille_options* options, quadrille_request* request);
/**@}*/

/** Inclusive scan: rank i receives the data of ranks 0 to i, combined element by element. */
/**@{*/
QUADRILLE_EXPORT int quadrille_scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                    quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                     quadrille_comm comm, const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                         MPI_Op op, quadrille_comm comm, const quadrille_options* options,
                                         quadrille_request* request);
/**@}*/

/**
 * Exclusive scan: rank i receives the data of ranks 0 to i - 1, combined element by element. The output of rank 0 is
 * not written.
 */
/**@{*/
QUADRILLE_EXPORT int quadrille_exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                      quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                       MPI_Op op, quadrille_comm comm, const quadrille_options* options,
                                       quadrille_request* request);
QUADRILLE_EXPORT int quadrille_exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                           MPI_Op op, quadrille_comm comm, const quadrille_options* options,
                                           quadrille_request* request);
/**@}*/

/**
 * Broadcasts `count` bytes at `offset` of the root's memory to the same place on all ranks. The range is handed over by
 * the call, and must not be touched until it has completed.
 */
/**@{*/
QUADRILLE_EXPORT int quadrille_window_bcast(MPI_Aint offset, MPI_Count count, int root, quadrille_window window,
                                            const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_window_ibcast(MPI_Aint offset, MPI_Count count, int root, quadrille_window window,
                                             const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_window_bcast_init(MPI_Aint offset, MPI_Count count, int root, quadrille_window window,
                                                 const quadrille_options* options, quadrille_request* request);
/**@}*/

/** Gathers blocks of `count` bytes: that of rank r lies at `offset` + r `count`, afterwards on all ranks. */
/**@{*/
QUADRILLE_EXPORT int quadrille_window_allgather(MPI_Aint offset, MPI_Count count, quadrille_window window,
                                                const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_window_iallgather(MPI_Aint offset, MPI_Count count, quadrille_window window,
                                                 const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_window_allgather_init(MPI_Aint offset, MPI_Count count, quadrille_window window,
                                                     const quadrille_options* options, quadrille_request* request);
/**@}*/

/** Returns, or completes, when all ranks have called it. */
/**@{*/
QUADRILLE_EXPORT int quadrille_window_barrier(quadrille_window window, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_window_ibarrier(quadrille_window window, const quadrille_options* options,
                                               quadrille_request* request);
QUADRILLE_EXPORT int quadrille_window_barrier_init(quadrille_window window, const quadrille_options* options,
                                                   quadrille_request* request);
/**@}*/

/** \cond */
/* Called by the Fortran module (quadrille.f90). Not part of the public interface. */
QUADRILLE_EXPORT int quadrille_fortran_comm_create(MPI_Fint parent, quadrille_comm* comm);
QUADRILLE_EXPORT int quadrille_fortran_alltoall_in_place(void* buffer, MPI_Count count, MPI_Fint type,
                                                         quadrille_comm comm, MPI_Count memory);
QUADRILLE_EXPORT int quadrille_fortran_alltoallv_in_place(void* buffer, const MPI_Count sendcounts[],
                                                          const MPI_Aint senddispls[], const MPI_Count recvcounts[],
                                                          const MPI_Aint recvdispls[], MPI_Fint type,
                                                          quadrille_comm comm, MPI_Count memory,
                                                          quadrille_request* request, int persistent);
/** \endcond */

#ifdef __cplusplus
}
#endif

#endif
