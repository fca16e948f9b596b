// Programs that are wrong, one for each word on the command line. checked_test.py runs them and reads what is said.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <quadrille/quadrille.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

// MPICH 4.2's launcher mixes what ranks say at the same time.
void say(const quadrille::Communicator& comm, const std::string& what) {
  std::this_thread::sleep_for(20ms * comm.rank());
  std::printf("rank %d: %s\n", comm.rank(), what.c_str());
  std::fflush(stdout);
}

void run(quadrille::Communicator& comm, const std::string& mistake) {
  const bool odd_one = comm.rank() == comm.size() - 1;
  std::vector<int> data(1000, 1);
  std::vector<int> sum(1000);
  comm.barrier();
  std::printf("rank %d, process %d, calls\n", comm.rank(), getpid());
  std::fflush(stdout);
  if (mistake == "root") {
    comm.bcast(data, odd_one ? 1 : 0);
  } else if (mistake == "count") {
    comm.allreduce(data.data(), sum.data(), odd_one ? 10 : 11, MPI_INT, MPI_SUM);
  } else if (mistake == "collective") {
    odd_one ? comm.barrier() : comm.bcast(data, 0);
  } else if (mistake == "short") {
    comm.bcast(data.data(), odd_one ? 500 : 1000, MPI_INT, 0, {.algorithm = "linear"});
  } else if (mistake == "late") {
    if (odd_one) std::this_thread::sleep_for(3s);
    comm.allreduce(data, sum, std::plus{});
  } else if (mistake == "polling") {
    if (odd_one) std::this_thread::sleep_for(2s);
    auto pending = comm.iallreduce(data, sum, std::plus{});
    while (!pending.test()) std::this_thread::yield();
  } else if (mistake == "type") {
    comm.allreduce(data.data(), sum.data(), 10, odd_one ? MPI_SHORT : MPI_INT, MPI_SUM);
  } else if (mistake == "operation") {
    comm.allreduce(data.data(), sum.data(), 10, MPI_INT, odd_one ? MPI_MAX : MPI_SUM);
  } else if (mistake == "none") {
    for (int i = 0; i < 100; ++i) comm.allreduce(data, sum, std::plus{});
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  {
    quadrille::Communicator comm(MPI_COMM_WORLD);
    try {
      run(comm, argv[1]);
    } catch (const quadrille::Error& error) {
      say(comm, error.what());
    }
    if (argc > 2) {
      // Does it still serve?
      try {
        comm.barrier();
        say(comm, "goes on");
      } catch (const quadrille::Error& error) {
        say(comm, error.what());
      }
    }
  }
  std::fflush(stdout);
  if (argc > 3) _exit(0);  // the others may wait for ever
  MPI_Finalize();
}
