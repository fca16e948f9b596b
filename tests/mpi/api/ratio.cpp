// How long our calls take beside the MPI's own, interleaved in one run: ratio [ROUNDS [LEAST]]. With LEAST, fails
// unless an allreduce of 8 bytes is so many times faster than the MPI's; skips (77) where every rank has a core, since
// then no MPI waits in vain.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <quadrille/quadrille.hpp>
#include <thread>
#include <vector>

namespace {

using Work = std::function<void()>;

double microseconds(int calls, const Work& work) {
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) work();
  return (MPI_Wtime() - start) / calls * 1e6;
}

// The slowest rank's time of the best round for each, ours and the MPI's in turn.
struct Times {
  double ours;
  double theirs;
};
Times compare(quadrille::Communicator& comm, int rounds, int calls, const Work& ours, const Work& theirs) {
  Times best{1e30, 1e30};
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [work, least] : {std::pair{&ours, &best.ours}, std::pair{&theirs, &best.theirs}}) {
      comm.barrier();
      const double mine = microseconds(calls, *work);
      double slowest = 0;
      comm.allreduce(std::span(&mine, 1), std::span(&slowest, 1), [](double a, double b) { return std::max(a, b); });
      *least = std::min(*least, slowest);
    }
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    quadrille::Communicator comm(MPI_COMM_WORLD);
    const bool enough_cores = static_cast<int>(std::thread::hardware_concurrency()) >= comm.size();
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    const double least = argc > 2 ? std::atof(argv[2]) : 0;
    if (least > 0 && enough_cores) code = 77;
    if (comm.rank() == 0) std::printf("%-10s %10s %12s %12s %8s\n", "", "bytes", "ours us", "MPI us", "ratio");
    for (std::int64_t count : {1, 131072}) {
      if (code != 0) break;
      std::vector<double> input(static_cast<std::size_t>(count), 1);
      std::vector<double> output(input.size());
      const int calls = enough_cores ? (count == 1 ? 1000 : 20) : 4;
      const auto elements = static_cast<int>(count);
      const auto line = [&](const char* name, const Work& ours, const Work& theirs) {
        const Times times = compare(comm, rounds, calls, ours, theirs);
        if (comm.rank() == 0) {
          std::printf("%-10s %10lld %12.2f %12.2f %8.2f\n", name, static_cast<long long>(count * 8), times.ours,
                      times.theirs, times.theirs / times.ours);
        }
        return times.theirs / times.ours;
      };
      const double ratio = line(
          "allreduce", [&] { comm.allreduce(input.data(), output.data(), count, MPI_DOUBLE, MPI_SUM); },
          [&] { MPI_Allreduce(input.data(), output.data(), elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
      if (least > 0) {
        if (ratio < least) code = 1;
        break;
      }
      line(
          "bcast", [&] { comm.bcast(input.data(), count, MPI_DOUBLE, 0); },
          [&] { MPI_Bcast(input.data(), elements, MPI_DOUBLE, 0, MPI_COMM_WORLD); });
    }
  }
  MPI_Finalize();
  return code;
}
