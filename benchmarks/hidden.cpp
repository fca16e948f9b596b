// Measures the overlap of a collective with computation, here a sleep, which uses no core:
//
//   mpirun -n 2 hidden [BYTES [ROUNDS]]
//
// For bcast and allreduce: the time of a blocking call, then that of a non-blocking call, a sleep of the same duration,
// and the wait. The time saved relative to the call was hidden: 0 % none, 100 % all of it. QUADRILLE_PROGRESS=1 starts
// a progress thread, QUADRILLE_ALGORITHM selects the algorithm.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <quadrille/quadrille.hpp>
#include <thread>
#include <vector>

namespace {

using Seconds = std::chrono::duration<double>;

class Overlap {
 public:
  Overlap(quadrille::Communicator& comm, int rounds) : comm_(comm), rounds_(rounds) {}

  // Medians of the slowest rank.
  template <class Work>
  double time(Work&& work) {
    std::vector<double> times;
    for (int round = 0; round < rounds_; ++round) {
      comm_.barrier();
      const double start = MPI_Wtime();
      work();
      const double own = MPI_Wtime() - start;
      double slowest = 0;
      comm_.allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX);
      times.push_back(slowest);
    }
    std::nth_element(times.begin(), times.begin() + rounds_ / 2, times.end());
    return times[static_cast<std::size_t>(rounds_ / 2)];
  }

  template <class Start>
  void measure(const char* name, Start&& start) {
    time([&] { start().wait(); });  // warm-up
    const double call = time([&] { start().wait(); });
    const double sleep = time([&] { std::this_thread::sleep_for(Seconds(call)); });
    const double both = time([&] {
      quadrille::Pending pending = start();
      std::this_thread::sleep_for(Seconds(call));
      pending.wait();
    });
    const double hidden = (call + sleep - both) / call;
    if (comm_.rank() != 0) return;
    std::printf("%-10s call %9.3f ms, sleep %9.3f ms, both %9.3f ms: %.0f %% hidden\n", name, 1e3 * call, 1e3 * sleep,
                1e3 * both, 100 * std::clamp(hidden, 0.0, 1.0));
  }

 private:
  quadrille::Communicator& comm_;
  int rounds_;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    quadrille::Communicator comm(MPI_COMM_WORLD);
    const std::int64_t bytes = argc > 1 ? std::atoll(argv[1]) : 1 << 20;
    const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 50;
    std::vector<float> input(static_cast<std::size_t>(bytes) / sizeof(float), 1.0F);
    std::vector<float> output(input.size());
    Overlap overlap(comm, rounds);
    overlap.measure("bcast", [&] { return comm.ibcast(output, 0); });
    overlap.measure("allreduce", [&] { return comm.iallreduce(input, output, std::plus{}); });
  }
  MPI_Finalize();
}
