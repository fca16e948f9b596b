// cg: conjugate gradients with a sparse matrix in blocks on a grid of ranks. A product is summed along the rows of the
// grid and spread along its columns, by messages between ranks whose numbers differ in one bit; dot products are
// allreduces. After NPB's cg.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.hpp"

namespace {

// The matrix: a(i,i) = diagonal, a(i, i +- offset) = -1, modulo n.
constexpr std::array<int, 5> offsets = {1, 67, 1021, 4099, 9973};
constexpr double diagonal = 2.0 * offsets.size() + 2;

double solution(int i) {
  return 1 + std::sin(0.01 * i);
}

int wrapped(std::int64_t i, int n) {
  return static_cast<int>((i % n + n) % n);
}

// A vector is in as many pieces as there are ranks: rank (row, column) has piece number row * columns + column, which
// is also its rank.
class Matrix {
 public:
  Matrix(int n, const Kernel& kernel) : n_(n), rank_(kernel.rank) {
    while (rows_ * rows_ * 2 <= kernel.ranks) rows_ *= 2;
    columns_ = kernel.ranks / rows_;
    piece_ = n / kernel.ranks;
  }
  int piece() const { return piece_; }
  std::string grid() const { return std::to_string(rows_) + "x" + std::to_string(columns_); }

  void multiply(const std::vector<double>& own, std::vector<double>& product) {
    spread(own);
    const int first_row = rank_ / columns_ * (n_ / rows_);
    const int first_column = rank_ % columns_ * (n_ / columns_);
    const int width = n_ / columns_;
    partial_.assign(n_ / rows_, 0);
    for (int i = 0; i < n_ / rows_; ++i) {
      const auto add = [&](int column, double value) {
        const int at = column - first_column;
        if (at >= 0 && at < width) partial_[i] += value * block_[at];
      };
      add(first_row + i, diagonal);
      for (const int offset : offsets) {
        add(wrapped(first_row + i + offset, n_), -1);
        add(wrapped(first_row + i - offset, n_), -1);
      }
    }
    sum_along_row(product);
  }

 private:
  // This rank's column of the grid needs `rows_` pieces that follow one another: one comes from the rank that has it,
  // the others from the ranks of the column.
  void spread(const std::vector<double>& own) {
    const int row = rank_ / columns_;
    const int column = rank_ % columns_;
    const int source = column * rows_ + row;
    const int target = rank_ % rows_ * columns_ + rank_ / rows_;
    block_.resize(static_cast<std::size_t>(piece_) * rows_);
    MPI_Sendrecv(own.data(), piece_, MPI_DOUBLE, target, 0, block_.data() + row * piece_, piece_, MPI_DOUBLE, source, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int bit = 1; bit < rows_; bit *= 2) {
      const int peer = (row ^ bit) * columns_ + column;
      const int mine = row & ~(bit - 1);  // the first of those that it has by now
      MPI_Sendrecv(block_.data() + mine * piece_, bit * piece_, MPI_DOUBLE, peer, 1,
                   block_.data() + (mine ^ bit) * piece_, bit * piece_, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    }
  }

  // Each rank of a row keeps the half that it is to have, and sends the other.
  void sum_along_row(std::vector<double>& product) {
    const int column = rank_ % columns_;
    received_.resize(partial_.size());
    int first = 0;
    for (int bit = columns_ / 2; bit > 0; bit /= 2) {
      const int peer = rank_ ^ bit;
      const int half = bit * piece_;
      const int keep = first + (column & bit ? half : 0);
      const int send = first + (column & bit ? 0 : half);
      MPI_Sendrecv(partial_.data() + send, half, MPI_DOUBLE, peer, 2, received_.data(), half, MPI_DOUBLE, peer, 2,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < half; ++i) partial_[keep + i] += received_[i];
      first = keep;
    }
    std::copy_n(partial_.begin() + first, piece_, product.begin());
  }

  int n_;
  int rank_;
  int rows_ = 1;
  int columns_ = 1;
  int piece_ = 0;
  std::vector<double> block_;
  std::vector<double> partial_;
  std::vector<double> received_;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum_of_all(sum);
}

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("cg", argc, argv);
  const int n = kernel.argument(0, 32768);
  const int iterations = kernel.argument(1, 25);
  kernel.require((kernel.ranks & (kernel.ranks - 1)) == 0 && n % kernel.ranks == 0,
                 "needs a power of two of ranks that divides the size");
  Matrix matrix(n, kernel);
  const int first = kernel.rank * matrix.piece();
  std::vector<double> x(matrix.piece()), q(x), r(x);
  for (int i = 0; i < matrix.piece(); ++i) {
    r[i] = diagonal * solution(first + i);
    for (const int offset : offsets) {
      r[i] -= solution(wrapped(first + i + offset, n)) + solution(wrapped(first + i - offset, n));
    }
  }
  std::vector<double> p = r;
  kernel.start();
  double rho = dot(r, r);
  for (int k = 0; k < iterations; ++k) {
    matrix.multiply(p, q);
    const double alpha = rho / dot(p, q);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double before = rho;
    rho = dot(r, r);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + rho / before * p[i];
  }
  kernel.stop();
  double error = 0;
  for (int i = 0; i < matrix.piece(); ++i) error = std::max(error, std::abs(x[i] - solution(first + i)));
  return kernel.end(
      std::to_string(n) + " unknowns on " + matrix.grid() + ", " + std::to_string(iterations) + " iterations",
      error < 1e-4);
}
