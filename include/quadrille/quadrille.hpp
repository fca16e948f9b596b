#pragma once

/// \file
/// Quadrille: collective communication on top of MPI.
///
///     quadrille::Communicator comm(MPI_COMM_WORLD);
///     comm.allreduce(mine, sum, std::plus{});
///
/// Compile and link with the MPI of the program: the CMake targets are quadrille::openmpi and quadrille::mpich.
///
/// **Progress.** Pending collectives, of all communicators, advance in every call of this library that waits or tests:
/// blocking collectives, Pending::wait and test, Persistent::wait and test, and the destructors that wait. They do not
/// advance inside MPI's own calls, nor while the program computes, unless QUADRILLE_PROGRESS=1 starts a progress
/// thread. Without one a program must not block in MPI, say in MPI_Recv, for something that another rank does only
/// after a collective that is still pending here.
///
/// **Threads.** The library may be called wherever the program may call MPI. With MPI_THREAD_MULTIPLE several threads
/// may call it at the same time; as for MPI's own collectives, calls on one communicator must be ordered among the
/// threads in the same way on all ranks.
///
/// **Errors.** Calls throw quadrille::Error or std::bad_alloc, and let through what a reduction's operation throws. An
/// operation must not call this library or MPI. Arguments that are wrong in the same way on all ranks are rejected on
/// all of them before any data has moved, and the communicator remains usable. Arguments that are wrong on some ranks
/// only, such as a different root or count, can not be detected by the others, which may then wait forever;
/// QUADRILLE_CHECK=1 detects them. If a collective fails after data has moved, as when a rank sends more than another
/// one expects, its communicator rejects all further calls. Under MPICH the error handler of MPI_COMM_WORLD is invoked
/// first for such an error, and aborts the program unless it is MPI_ERRORS_RETURN.

#include "quadrille/blocks.hpp"
#include "quadrille/collective.hpp"
#include "quadrille/communicator.hpp"
#include "quadrille/data.hpp"
#include "quadrille/error.hpp"
#include "quadrille/exchange.hpp"
#include "quadrille/operation.hpp"
#include "quadrille/options.hpp"
#include "quadrille/pending.hpp"
#include "quadrille/reordered.hpp"
#include "quadrille/window.hpp"

/// The C++ interface.
namespace quadrille {}
