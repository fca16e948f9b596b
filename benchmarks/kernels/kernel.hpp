// What the kernels share: options, the loop's time, the verdict at the end. Plain MPI, nothing of Quadrille.

#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kernel {

// A job from MPI_Init to MPI_Finalize. Rank 0 reads the options, so that all ranks agree on them.
class Job {
 public:
  Job(int argc, char** argv, std::int64_t size, std::int64_t steps) : options_{size, steps} {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    for (int i = 1; i < argc; i += 2) {
      const bool is_size = std::strcmp(argv[i], "--size") == 0;
      require(i + 1 < argc && (is_size || std::strcmp(argv[i], "--steps") == 0), "usage: [--size N] [--steps N]");
      options_[is_size ? 0 : 1] = std::atoll(argv[i + 1]);
    }
    MPI_Bcast(options_, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    require(options_[0] > 0 && options_[1] > 0, "size and steps must be positive");
  }
  ~Job() { MPI_Finalize(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  std::int64_t size() const { return options_[0]; }
  std::int64_t steps() const { return options_[1]; }

  void require(bool holds, const char* what) const {
    if (holds) return;
    if (rank_ == 0) std::fprintf(stderr, "%s\n", what);
    MPI_Finalize();
    std::exit(2);
  }

  // The time between the two calls is that of the loop, on the slowest rank.
  void start() {
    MPI_Barrier(MPI_COMM_WORLD);
    start_ = MPI_Wtime();
  }
  void stop() { seconds_ = MPI_Wtime() - start_; }

  // The largest error of any rank must be within the tolerance. Returns the exit code; the same on all ranks.
  int finish(double error, double tolerance) const {
    double own[2] = {seconds_, error == error ? error : 1e300};  // NaN is lost in a maximum
    double all[2] = {};
    MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const bool right = all[1] <= tolerance;
    if (rank_ == 0) {
      std::printf("error: %.3g, %s\nseconds: %.6f\n", all[1], right ? "right" : "WRONG", all[0]);
      std::fflush(stdout);
    }
    return right ? 0 : 1;
  }

 private:
  std::int64_t options_[2];  // size, steps
  int rank_ = 0;
  int ranks_ = 1;
  double start_ = 0;
  double seconds_ = 0;
};

// The part of a rank, if items are dealt out in blocks as equal as possible.
struct Share {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

inline Share share_of(std::int64_t items, int rank, int ranks) {
  const std::int64_t first = items * rank / ranks;
  return {first, items * (rank + 1) / ranks - first};
}

// A number in [-1, 1) that depends on nothing but its place: the same on any number of ranks.
inline double noise(std::uint64_t place) {
  place += 0x9e3779b97f4a7c15U;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9U;
  place = (place ^ (place >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((place ^ (place >> 31)) >> 11) * 0x1p-52 - 1;
}

}  // namespace kernel
