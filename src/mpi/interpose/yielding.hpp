#pragma once

namespace quadrille::interpose {

// MPICH spins while it waits. Where ranks share cores, one that waits then keeps those from their core that it waits
// for. Its waits can be reached from outside where it runs over UCX: there they can be made to let others run, and
// everything gets on, collectives, messages and all.

// Whether they were, so far.
bool reaches_waits_of_mpi();

void let_mpi_yield(bool on);

}  // namespace quadrille::interpose
