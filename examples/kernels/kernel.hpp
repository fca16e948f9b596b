// What the kernels share: sizes from the command line, the time of the slowest rank, one line of output.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

class Kernel {
 public:
  Kernel(const char* name, int argc, char** argv) : name_(name), words_(argv + 1, argv + argc) {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // The argument at a place, or what it is without one.
  int argument(std::size_t place, int otherwise) const {
    return place < words_.size() ? std::atoi(words_[place].c_str()) : otherwise;
  }
  // Ends the program, on all ranks, if a size does not suit the number of ranks.
  void require(bool condition, const char* what) const {
    if (condition) return;
    if (rank == 0) std::fprintf(stderr, "%s: %s\n", name_, what);
    MPI_Finalize();
    std::exit(2);
  }

  void start() {
    MPI_Barrier(MPI_COMM_WORLD);
    begin_ = MPI_Wtime();
  }
  void stop() { seconds_ = MPI_Wtime() - begin_; }

  // Prints the line; `right` counts on all ranks. Returns the exit status.
  int end(const std::string& what, bool right) const {
    double slowest = 0;
    MPI_Reduce(&seconds_, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int mine = right ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) {
      std::printf("%s, %d ranks, %s: %.3f s, %s\n", name_, ranks, what.c_str(), slowest, all ? "right" : "WRONG");
      std::fflush(stdout);
    }
    MPI_Finalize();
    return all ? 0 : 1;
  }

  int rank = 0;
  int ranks = 1;

 private:
  const char* name_;
  std::vector<std::string> words_;
  double begin_ = 0;
  double seconds_ = 0;
};

inline double sum_of_all(double value) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// The ranks as a grid, the last coordinate fastest, as MPI_Dims_create divides them; never reordered.
template <int dimensions>
struct Grid {
  Grid(int ranks, bool periodic) {
    MPI_Dims_create(ranks, dimensions, size.data());
    std::array<int, dimensions> wraps = {};
    wraps.fill(periodic ? 1 : 0);
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, size.data(), wraps.data(), 0, &comm);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_coords(comm, rank, dimensions, at.data());
    for (int d = 0; d < dimensions; ++d) MPI_Cart_shift(comm, d, 1, &below[d], &above[d]);
  }
  bool divides(int extent) const {
    for (const int one : size) {
      if (extent % one != 0) return false;
    }
    return true;
  }
  std::string text() const {
    std::string words;
    for (const int one : size) {
      if (!words.empty()) words += 'x';
      words += std::to_string(one);
    }
    return words;
  }

  MPI_Comm comm = MPI_COMM_NULL;
  std::array<int, dimensions> size = {};
  std::array<int, dimensions> at = {};
  std::array<int, dimensions> below = {};  // neighbours in each dimension
  std::array<int, dimensions> above = {};
};
