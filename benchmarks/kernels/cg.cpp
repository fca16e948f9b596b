// Conjugate gradients:
//
//   mpirun -n 4 cg [--size N] [--steps N]
//
// Solves a system of size x size unknowns, the Laplacian of a grid plus a small multiple of the unit matrix, as a
// sparse matrix of which each rank has some rows. An iteration collects the vector (MPI_Allgather), and computes two
// scalar products (MPI_Allreduce). A step is a solution from zero. Checked: the solution, which is known.

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel.hpp"

namespace {

constexpr double shift = 1;  // so that the precision is reached in 32 iterations, at any size
constexpr double precision = 1e-10;

using Vector = std::vector<double>;

// Rows of this rank, compressed. All ranks have the same number: those beyond the grid are of the unit matrix.
struct Matrix {
  std::int64_t rows = 0;
  std::vector<std::int64_t> starts = {0};
  std::vector<std::int64_t> columns;
  Vector values;
};

Matrix laplacian(const kernel::Job& job) {
  const std::int64_t side = job.size();
  Matrix matrix;
  matrix.rows = (side * side + job.ranks() - 1) / job.ranks();
  const auto add = [&matrix](std::int64_t column, double value) {
    matrix.columns.push_back(column);
    matrix.values.push_back(value);
  };
  for (std::int64_t row = matrix.rows * job.rank(); row < matrix.rows * (job.rank() + 1); ++row) {
    const bool inside = row < side * side;
    if (inside && row >= side) add(row - side, -1);
    if (inside && row % side > 0) add(row - 1, -1);
    add(row, inside ? 4 + shift : 1);
    if (inside && row % side < side - 1) add(row + 1, -1);
    if (inside && row + side < side * side) add(row + side, -1);
    matrix.starts.push_back(static_cast<std::int64_t>(matrix.columns.size()));
  }
  return matrix;
}

class Solver {
 public:
  explicit Solver(const kernel::Job& job)
      : matrix_(laplacian(job)),
        whole_(static_cast<std::size_t>(matrix_.rows * job.ranks())),
        product_(static_cast<std::size_t>(matrix_.rows)) {}

  std::int64_t rows() const { return matrix_.rows; }

  // The rank's part of matrix * vector.
  const Vector& multiply(const Vector& vector) {
    const int count = static_cast<int>(matrix_.rows);
    MPI_Allgather(vector.data(), count, MPI_DOUBLE, whole_.data(), count, MPI_DOUBLE, MPI_COMM_WORLD);
    for (std::size_t row = 0; row < product_.size(); ++row) {
      double sum = 0;
      for (auto i = static_cast<std::size_t>(matrix_.starts[row]);
           i < static_cast<std::size_t>(matrix_.starts[row + 1]); ++i) {
        sum += matrix_.values[i] * whole_[static_cast<std::size_t>(matrix_.columns[i])];
      }
      product_[row] = sum;
    }
    return product_;
  }

  static double dot(const Vector& a, const Vector& b) {
    double own = 0;
    for (std::size_t i = 0; i < a.size(); ++i) own += a[i] * b[i];
    double all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  Vector solve(const Vector& right) {
    Vector solution(right.size());
    Vector residual = right;
    Vector direction = right;
    double square = dot(residual, residual);
    const double enough = precision * precision * square;
    for (int iteration = 0; iteration < 10000 && square > enough; ++iteration) {
      const Vector& image = multiply(direction);
      const double length = square / dot(direction, image);
      for (std::size_t i = 0; i < right.size(); ++i) {
        solution[i] += length * direction[i];
        residual[i] -= length * image[i];
      }
      const double before = square;
      square = dot(residual, residual);
      for (std::size_t i = 0; i < right.size(); ++i) direction[i] = residual[i] + square / before * direction[i];
    }
    return solution;
  }

 private:
  Matrix matrix_;
  Vector whole_;
  Vector product_;
};

}  // namespace

int main(int argc, char** argv) {
  kernel::Job job(argc, argv, 128, 20);
  Solver solver(job);
  Vector expected(static_cast<std::size_t>(solver.rows()));
  const std::int64_t first = solver.rows() * job.rank();
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = kernel::noise(static_cast<std::uint64_t>(first) + i);
  const Vector right = solver.multiply(expected);
  double error = 0;
  job.start();
  for (std::int64_t step = 0; step < job.steps(); ++step) {
    const Vector solution = solver.solve(right);
    for (std::size_t i = 0; i < right.size(); ++i) error = std::max(error, std::fabs(solution[i] - expected[i]));
  }
  job.stop();
  return job.finish(error, 1e-6);
}
