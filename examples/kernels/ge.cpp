// ge: Gaussian elimination of a dense system with partial pivoting, rows dealt out in turn. In step k the ranks find
// the pivot by an allreduce, two of them swap rows, and the pivot row is broadcast.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.hpp"

namespace {

struct Pivot {
  double size = -1;
  int row = 0;
};

// As good as random: multiples of one number would make rows that depend on each other.
double element(int i, int j, int n) {
  std::uint64_t x = (static_cast<std::uint64_t>(i) * n + j + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((x ^ (x >> 31)) >> 40) / static_cast<double>(1 << 24) - 0.5;
}

class System {
 public:
  System(int n, const Kernel& kernel) : n_(n), rank_(kernel.rank), ranks_(kernel.ranks), pivot_row_(n + 1) {
    // The solution is all ones.
    for (int i = rank_; i < n; i += ranks_) {
      std::vector<double> row(n + 1);
      for (int j = 0; j < n; ++j) row[n] += row[j] = element(i, j, n);
      rows_.push_back(row);
    }
  }

  // Eliminates column k in all other rows, also those above: what is left is a diagonal.
  void eliminate(int k) {
    swap(k, find_pivot(k));
    const int length = n_ + 1 - k;
    if (owner(k) == rank_) std::copy_n(at(k).begin() + k, length, pivot_row_.begin());
    MPI_Bcast(pivot_row_.data(), length, MPI_DOUBLE, owner(k), MPI_COMM_WORLD);
    for (int i = rank_; i < n_; i += ranks_) {
      if (i == k) continue;
      std::vector<double>& row = at(i);
      const double factor = row[k] / pivot_row_[0];
      for (int j = 0; j < length; ++j) row[k + j] -= factor * pivot_row_[j];
    }
  }

  double error() const {
    double worst = 0;
    for (int i = rank_; i < n_; i += ranks_) {
      const std::vector<double>& row = rows_[i / ranks_];
      worst = std::max(worst, std::abs(row[n_] / row[i] - 1));
    }
    return worst;
  }

 private:
  int owner(int row) const { return row % ranks_; }
  std::vector<double>& at(int row) { return rows_[row / ranks_]; }

  int find_pivot(int k) {
    Pivot mine;
    for (int i = rank_; i < n_; i += ranks_) {
      if (i >= k && std::abs(at(i)[k]) > mine.size) mine = {std::abs(at(i)[k]), i};
    }
    Pivot best;
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    return best.row;
  }

  void swap(int k, int other) {
    if (k == other) return;
    if (owner(k) == owner(other)) {
      if (owner(k) == rank_) at(k).swap(at(other));
      return;
    }
    if (rank_ != owner(k) && rank_ != owner(other)) return;
    std::vector<double>& row = at(rank_ == owner(k) ? k : other);
    const int peer = rank_ == owner(k) ? owner(other) : owner(k);
    MPI_Sendrecv_replace(row.data(), n_ + 1, MPI_DOUBLE, peer, 0, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  int n_;
  int rank_;
  int ranks_;
  std::vector<std::vector<double>> rows_;
  std::vector<double> pivot_row_;
};

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("ge", argc, argv);
  const int n = kernel.argument(0, 384);
  System system(n, kernel);
  kernel.start();
  for (int k = 0; k < n; ++k) system.eliminate(k);
  kernel.stop();
  return kernel.end(std::to_string(n) + " unknowns", system.error() < 1e-7);
}
