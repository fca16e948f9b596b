#pragma once

#include <mpi.h>

#include <quadrille/error.hpp>

namespace quadrille::engine {

// A communicator can't be made, which all its ranks find out: MPI has no more of them, or settings can't be followed.
class NotMade : public Error {
 public:
  using Error::Error;
};
// For calls that make one: as check, with that error.
void check_made(int code, const char* function);

// A communicator of the same ranks, by a call that all of them make. Not a duplicate: this copies no attributes, so
// none of the user's callbacks run. And ranks need not tell each other their colours and keys, as for a split.
// `among_threads`: others may call on the parent meanwhile.
MPI_Comm private_communicator(MPI_Comm parent, bool among_threads);

}  // namespace quadrille::engine
