// Overlaps a reduction with computation: Jacobi's method for Laplace's equation on the unit square. The grid is divided
// into strips of rows, one per rank. During a sweep the norm of the previous sweep is reduced, so that no rank waits
// for it; convergence is detected one sweep late.

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <quadrille/quadrille.hpp>
#include <span>
#include <utility>
#include <vector>

namespace {

constexpr int inner = 16;  // rows and columns between the borders
constexpr int width = inner + 2;

// Harmonic, and of so low a degree that the five-point stencil is exact: the remaining error is that of the iteration.
double solution(int row, int column) {
  const double y = static_cast<double>(row) / (inner + 1);
  const double x = static_cast<double>(column) / (inner + 1);
  return x * x - y * y;
}

// Rows `first` to `last` of the square, and one halo row on each side: a neighbour's, or the border.
struct Strip {
  int first;
  int last;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>((last - first + 2) * width));

  double* row(int index) { return &values[static_cast<std::size_t>((index - first + 1) * width)]; }
};

Strip make_strip(int first, int last) {
  Strip strip{first, last};
  for (int row = first - 1; row <= last; ++row) {
    const bool border = row == 0 || row == inner + 1;
    for (int column = 0; column < width; column += border ? 1 : width - 1) {
      strip.row(row)[column] = solution(row, column);
    }
  }
  return strip;
}

// Plain MPI calls work alongside Quadrille.
void exchange_halo(Strip& strip, int above, int below) {
  MPI_Sendrecv(strip.row(strip.first), width, MPI_DOUBLE, above, 0, strip.row(strip.last), width, MPI_DOUBLE, below, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(strip.row(strip.last - 1), width, MPI_DOUBLE, below, 0, strip.row(strip.first - 1), width, MPI_DOUBLE,
               above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Returns the sum of the squared changes. A collective makes progress only inside calls of the library, so it is tested
// after each row; otherwise all of it would be left to wait().
double sweep(Strip& old, Strip& next, quadrille::Pending& pending) {
  double changed = 0;
  for (int row = old.first; row < old.last; ++row) {
    const double* above = old.row(row - 1);
    const double* here = old.row(row);
    const double* below = old.row(row + 1);
    double* result = next.row(row);
    for (int column = 1; column <= inner; ++column) {
      result[column] = (above[column] + below[column] + here[column - 1] + here[column + 1]) / 4;
      changed += (result[column] - here[column]) * (result[column] - here[column]);
    }
    pending.test();
  }
  return changed;
}

bool solve() {
  quadrille::Communicator comm(MPI_COMM_WORLD);
  const int rank = comm.rank();
  const int ranks = comm.size();
  Strip grid = make_strip(1 + inner * rank / ranks, 1 + inner * (rank + 1) / ranks);
  Strip next = grid;
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

  double mine = std::numeric_limits<double>::infinity();  // not converged before the first sweep
  double all = 0;
  int sweeps = 0;
  do {
    // `mine` and `all` belong to the collective until wait() returns.
    quadrille::Pending norm = comm.iallreduce(std::span(&mine, 1), std::span(&all, 1), std::plus{});
    // Blocking in MPI with a pending collective is safe only because each neighbour gets here before it waits for that
    // collective. Otherwise two ranks could wait for each other.
    exchange_halo(grid, above, below);
    const double changed = sweep(grid, next, norm);
    norm.wait();
    mine = changed;
    std::swap(grid, next);
    ++sweeps;
  } while (all > 1e-18);

  double error = 0;
  for (int row = grid.first; row < grid.last; ++row) {
    for (int column = 0; column < width; ++column) {
      error = std::max(error, std::abs(grid.row(row)[column] - solution(row, column)));
    }
  }
  // A user-defined operation; in place, since input and output are the same range.
  comm.allreduce(std::span(&error, 1), std::span(&error, 1), [](double a, double b) { return std::max(a, b); });
  const bool right = error < 1e-6;
  if (rank == 0) std::printf("%d sweeps, largest error %.1e: %s\n", sweeps, error, right ? "right" : "WRONG");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool right = solve();
  MPI_Finalize();
  return right ? 0 : 1;
}
