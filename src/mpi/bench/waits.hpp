#pragma once

#include <mpi.h>

#include <chrono>
#include <span>
#include <thread>

#include "engine/mpi.hpp"
#include "engine/process.hpp"

namespace quadrille::bench {

// Lets others run meanwhile, as MPI_Wait may not.
inline void finish(std::span<MPI_Request> requests) {
  engine::Process::get().wait_for_mpi([&] {
    int done = 0;
    engine::check(PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
                  "MPI_Testall");
    return done != 0;
  });
}
inline void finish(MPI_Request request) {
  finish(std::span(&request, 1));
}

// Until all ranks are here. Who has nothing to do leaves the cores to the others.
inline void wait_for_all(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0;
  engine::check(PMPI_Ibarrier(comm, &request), "MPI_Ibarrier");
  while (done == 0) {
    engine::check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace quadrille::bench
