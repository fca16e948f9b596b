// What calls cost that differ from one another: cached ROUNDS [MOST_ALTERNATING MOST_SIZES]. Compares, in turn, an
// allreduce of one element over 8 pairs of type and operation with the same call repeated, and a bcast of 1,000 sizes
// in turn with 20 sizes, spread alike, each of them repeated; both from rotating roots. Prints both ratios, and exits
// with 1 if one is above its bound.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <quadrille/quadrille.hpp>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Reduction {
  MPI_Datatype type;
  MPI_Op op;
};

constexpr int calls = 2000;
constexpr int sizes = 1000;

// Seconds for a row of calls, as the slowest rank sees them.
template <class Call>
double seconds(quadrille::Communicator& comm, Call&& call) {
  comm.barrier();
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) call(i);
  const double mine = std::chrono::duration<double>(Clock::now() - start).count();
  double slowest = 0;
  comm.allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX);
  return slowest;
}

// The best of several rounds each, in turn.
template <class One, class Other>
double ratio(quadrille::Communicator& comm, int rounds, One&& one, Other&& other) {
  double best_one = std::numeric_limits<double>::max();
  double best_other = best_one;
  for (int round = 0; round < rounds; ++round) {
    best_one = std::min(best_one, seconds(comm, one));
    best_other = std::min(best_other, seconds(comm, other));
  }
  if (comm.rank() == 0) {
    std::printf("%.3g us against %.3g us: ", best_one / calls * 1e6, best_other / calls * 1e6);
  }
  return best_one / best_other;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool good = true;
  {
    quadrille::Communicator comm(MPI_COMM_WORLD);
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    const std::array<Reduction, 8> reductions = {{{MPI_DOUBLE, MPI_SUM},
                                                  {MPI_DOUBLE, MPI_MAX},
                                                  {MPI_DOUBLE, MPI_MIN},
                                                  {MPI_INT64_T, MPI_SUM},
                                                  {MPI_INT64_T, MPI_MAX},
                                                  {MPI_INT64_T, MPI_BOR},
                                                  {MPI_UINT64_T, MPI_SUM},
                                                  {MPI_UINT64_T, MPI_MIN}}};
    std::array<double, 1> in = {1};
    std::array<double, 1> out = {};
    const auto allreduce = [&](const Reduction& one) { comm.allreduce(in.data(), out.data(), 1, one.type, one.op); };
    const double alternating = ratio(
        comm, rounds, [&](int i) { allreduce(reductions[static_cast<std::size_t>(i) % 8]); },
        [&](int) { allreduce(reductions[0]); });
    if (comm.rank() == 0) std::printf("alternating allreduce %.3f times as long\n", alternating);
    std::vector<double> data(sizes);
    // Each size meets each root.
    int shift = 0;
    const double many = ratio(
        comm, rounds,
        [&](int i) {
          if (i % sizes == 0) ++shift;
          comm.bcast(data.data(), 1 + i % sizes, MPI_DOUBLE, (i + shift) % comm.size());
        },
        [&](int i) {
          constexpr int repeated = 100;
          constexpr int apart = sizes / (calls / repeated);
          comm.bcast(data.data(), apart / 2 + i / repeated * apart, MPI_DOUBLE, i % comm.size());
        });
    if (comm.rank() == 0) std::printf("bcast of %d sizes %.3f times as long\n", sizes, many);
    if (argc > 3) good = alternating <= std::atof(argv[2]) && many <= std::atof(argv[3]);
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
