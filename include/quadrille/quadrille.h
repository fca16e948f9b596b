#ifndef QUADRILLE_QUADRILLE_H
#define QUADRILLE_QUADRILLE_H

/**
 * \file
 * Quadrille from C: the collectives of <quadrille/quadrille.hpp>, which says more about progress, threads and errors.
 *
 *     quadrille_comm comm;
 *     quadrille_comm_create(MPI_COMM_WORLD, &comm);
 *     quadrille_allreduce(mine, sum, 1000, MPI_DOUBLE, MPI_SUM, comm, NULL);
 *     quadrille_comm_free(&comm);
 *
 * Arguments are MPI's, in MPI's order, with counts of MPI_Count; MPI_IN_PLACE may stand where MPI allows it. Each
 * collective comes in three forms: blocking; i... returns at once, with a request; ..._init makes a persistent request,
 * to be started as often as wanted. Options may be NULL.
 *
 * Every function returns MPI_SUCCESS or an error code of MPI; quadrille_error_text() says what went wrong and what to
 * change. No error handler of MPI is called.
 */

#include <mpi.h>

#include "quadrille/export.hpp"

#ifdef __cplusplus
extern "C" {
#endif

/* C has no other way. NOLINTBEGIN(modernize-use-using, readability-identifier-naming) */
/** A communicator of Quadrille's own, with the ranks of one of MPI's. */
typedef struct quadrille_comm_s* quadrille_comm;

/** A collective that was started or made persistent; NULL: none. */
typedef struct quadrille_request_s* quadrille_request;

/** How one call is to be served, the same on every rank. Set it to {0} first. */
typedef struct quadrille_options {
  /** A name that `quadrille list` shows, with its width where it has one ("bruck:4"); NULL: chosen for the call. */
  const char* algorithm;
  /** Of a reduction, if not 0: the result is the fold from left to right in rank order, to the bit. */
  int fixed_order;
  /** Bytes a rank that the call may take beyond the caller's buffers; 0: no bound but that of QUADRILLE_MEMORY. */
  MPI_Count memory;
} quadrille_options;
/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

/** Collective over an intracommunicator, which may be freed afterwards. */
QUADRILLE_EXPORT int quadrille_comm_create(MPI_Comm parent, quadrille_comm* comm);
/** Frees it, and sets it to NULL; requests made of it stay good. */
QUADRILLE_EXPORT int quadrille_comm_free(quadrille_comm* comm);
/** This process among those of the communicator. */
QUADRILLE_EXPORT int quadrille_comm_rank(quadrille_comm comm, int* rank);
/** How many they are. */
QUADRILLE_EXPORT int quadrille_comm_size(quadrille_comm comm, int* size);

/** Begins a run of a persistent request; the one before it must be over. */
QUADRILLE_EXPORT int quadrille_start(quadrille_request request);
/** Advances what is pending. If the request is done, sets done to 1 and frees it, unless it is persistent. */
QUADRILLE_EXPORT int quadrille_test(quadrille_request* request, int* done);
/** Waits until the request is done, and frees it, unless it is persistent. */
QUADRILLE_EXPORT int quadrille_wait(quadrille_request* request);
/** Frees a request, after its run if it is in one, and sets it to NULL. */
QUADRILLE_EXPORT int quadrille_request_free(quadrille_request* request);

/**
 * Has function(data) called when the request is done, of a persistent one after every run: by a later call that waits
 * or tests, or by the progress thread, never inside another such function and never if the run failed. The function
 * must not free the request.
 */
QUADRILLE_EXPORT int quadrille_then(quadrille_request request, void (*function)(void* data), void* data);
/**
 * Has `next`, a persistent request of the same communicator, follow `request`: it begins on each rank as soon as that
 * has ended there. Of a persistent request every run is followed so from now on. Waited for one by one.
 */
QUADRILLE_EXPORT int quadrille_then_start(quadrille_request request, quadrille_request next);

/** What the last call of this thread that failed said; "" if none has. */
QUADRILLE_EXPORT const char* quadrille_error_text(void);
/** The most memory that this process has needed at one time beyond the caller's buffers. */
QUADRILLE_EXPORT MPI_Count quadrille_peak_bytes(void);

/** Nobody returns before everybody has called. */
/**@{*/
QUADRILLE_EXPORT int quadrille_barrier(quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ibarrier(quadrille_comm comm, const quadrille_options* options,
                                        quadrille_request* request);
QUADRILLE_EXPORT int quadrille_barrier_init(quadrille_comm comm, const quadrille_options* options,
                                            quadrille_request* request);
/**@}*/

/** Everybody gets what the root has. */
/**@{*/
QUADRILLE_EXPORT int quadrille_bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, quadrille_comm comm,
                                     const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ibcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, quadrille_comm comm,
                                      const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_bcast_init(void* buffer, MPI_Count count, MPI_Datatype type, int root,
                                          quadrille_comm comm, const quadrille_options* options,
                                          quadrille_request* request);
/**@}*/

/** The root gets the data of all ranks, combined element by element. */
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

/** Everybody gets the data of all ranks, combined element by element. */
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

/** The root gets the blocks of all ranks, in rank order. */
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

/** The same with blocks of different sizes. */
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

/** Everybody gets its block of what the root has. */
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

/** The same with blocks of different sizes. */
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

/** Everybody gets the blocks of all ranks, in rank order. */
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

/** The same with blocks of different sizes. */
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

/** Everybody has a block for everybody. */
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

/** The same with blocks of different sizes. */
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

/** The same with a type for each block, and displacements in bytes. */
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
 * All-to-all within one buffer, with any counts and displacements, which count elements and may be NULL: blocks one
 * after another. Blocks to be sent may lie over blocks to be received in any way; those of one direction must be apart
 * from each other. Takes options->memory bytes, which may differ from rank to rank, by default a hundredth of the data
 * but at least 64 KiB. Only blocks to be received are written. What is wrong on one rank is an error on all of them,
 * and nothing has moved. Elements must have no gaps.
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

/** Every rank gets its share of the data of all ranks, combined. */
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

/** The same with shares of one size. */
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

/** Every rank gets the data of all ranks up to itself, combined. */
/**@{*/
QUADRILLE_EXPORT int quadrille_scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                    quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                     quadrille_comm comm, const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                         MPI_Op op, quadrille_comm comm, const quadrille_options* options,
                                         quadrille_request* request);
/**@}*/

/** The same without its own; the output of rank 0 is left alone. */
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

/** \cond */
/* What the Fortran module (quadrille.f90) calls. Not for programs. */
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
