// Collectives whose leaders' level is the MPI's, many in flight at once: offloaded. Looks at every result. Meant for
// several nodes, with QUADRILLE_ALGORITHM=allreduce=offloaded. With an argument: by an operation of its own, which
// can't work.

#include <algorithm>
#include <cstdio>
#include <quadrille/quadrille.hpp>
#include <random>
#include <span>
#include <vector>

namespace {

constexpr int at_once = 40;

bool right(quadrille::Communicator& comm, int round) {
  const quadrille::Options offloaded{.algorithm = "offloaded"};
  std::vector<std::vector<double>> results;
  std::vector<quadrille::Pending> pending;
  for (int i = 0; i < at_once; ++i) {
    // Some are longer than a piece in shared memory.
    results.emplace_back(i % 7 == 0 ? 60000 : 1 + i, 1.0 + i + comm.rank());
  }
  for (std::vector<double>& one : results) {
    pending.push_back(comm.iallreduce(MPI_IN_PLACE, one.data(), std::ssize(one), MPI_DOUBLE, MPI_SUM, offloaded));
    if (pending.size() % 5 == 0) pending.push_back(comm.ibarrier(offloaded));
  }
  std::shuffle(pending.begin(), pending.end(), std::mt19937(static_cast<unsigned>(100 * round + comm.rank())));
  for (quadrille::Pending& one : pending) one.wait();
  const double ranks = comm.size();
  for (int i = 0; i < at_once; ++i) {
    const double sum = ranks * (1.0 + i) + ranks * (ranks - 1) / 2;
    const auto& all = results[static_cast<std::size_t>(i)];
    if (std::any_of(all.begin(), all.end(), [&](double value) { return value != sum; })) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool all_right = true;
  {
    quadrille::Communicator comm(MPI_COMM_WORLD);
    if (argc > 1) {
      double value = 1;
      comm.allreduce(std::span(&value, 1), std::span(&value, 1), [](double a, double b) { return a + b; },
                     {.algorithm = "offloaded"});
    }
    for (int round = 0; round < 3 && all_right; ++round) all_right = right(comm, round);
    if (!all_right) std::fprintf(stderr, "rank %d: wrong\n", comm.rank());
    if (!all_right) MPI_Abort(MPI_COMM_WORLD, 1);
    if (comm.rank() == 0) std::puts("all right");
  }
  MPI_Finalize();
  return 0;
}
