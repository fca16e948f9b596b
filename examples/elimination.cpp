// Gaussian elimination with the pivot rows in a window. Rows are dealt to the ranks in turn, so every step has another
// root. The owner of the next pivot row brings it up to date first and starts its broadcast; all others hand over the
// memory for it and go on with their rows, while it is written.

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <quadrille/quadrille.hpp>
#include <span>
#include <vector>

namespace {

constexpr int size = 96;
constexpr int width = size + 1;  // a row, and its right-hand side
constexpr std::int64_t row_bytes = width * sizeof(double);

// Diagonally dominant, so that no rows need be exchanged; the solution is 1 everywhere.
std::vector<double> make_row(int row) {
  std::vector<double> values(width);
  double sum = 0;
  for (int column = 0; column < size; ++column) {
    values[static_cast<std::size_t>(column)] = column == row ? 2.0 * size : std::sin(row * 37.0 + column * 11.0);
    sum += values[static_cast<std::size_t>(column)];
  }
  values.back() = sum;
  return values;
}

void eliminate(std::vector<double>& row, std::span<const double> pivot, int step) {
  const auto first = static_cast<std::size_t>(step);
  const double factor = row[first] / pivot[first];
  for (std::size_t column = first; column < width; ++column) row[column] -= factor * pivot[column];
}

class Elimination {
 public:
  explicit Elimination(quadrille::Communicator& comm)
      : rank_(comm.rank()), ranks_(comm.size()), window_(quadrille::Window::allocate(comm, 2 * row_bytes)) {
    for (int row = rank_; row < size; row += ranks_) rows_.push_back(make_row(row));
  }

  void run() {
    quadrille::Pending next = announce(0);
    for (int step = 0; step < size; ++step) {
      next.wait();
      const std::span<const double> pivot = place(step);
      if (step + 1 < size && owns(step + 1)) eliminate(row(step + 1), pivot, step);
      if (step + 1 < size) next = announce(step + 1);
      for (int later = step + 2; later < size; ++later) {
        if (owns(later)) eliminate(row(later), pivot, step);
      }
    }
  }

  // The largest error of the solution, from the last row up.
  double substitute() {
    std::vector<double> solution(size);
    double worst = 0;
    for (int step = size - 1; step >= 0; --step) {
      if (owns(step)) {
        const std::vector<double>& values = row(step);
        double rest = values.back();
        for (int column = step + 1; column < size; ++column) {
          rest -= values[static_cast<std::size_t>(column)] * solution[static_cast<std::size_t>(column)];
        }
        place(step).front() = rest / values[static_cast<std::size_t>(step)];
      }
      window_.bcast(step % ranks_, step % 2 * row_bytes, sizeof(double));
      solution[static_cast<std::size_t>(step)] = place(step).front();
      worst = std::max(worst, std::abs(place(step).front() - 1));
    }
    return worst;
  }

 private:
  bool owns(int row) const { return row % ranks_ == rank_; }
  std::vector<double>& row(int number) { return rows_[static_cast<std::size_t>(number / ranks_)]; }
  // Two rows in turn: one is read while the other is written.
  std::span<double> place(int step) { return window_.as<double>().subspan(step % 2 * width, width); }
  quadrille::Pending announce(int step) {
    if (owns(step)) std::copy(row(step).begin(), row(step).end(), place(step).begin());
    return window_.ibcast(step % ranks_, step % 2 * row_bytes, row_bytes);
  }

  int rank_;
  int ranks_;
  quadrille::Window window_;
  std::vector<std::vector<double>> rows_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = false;
  {
    quadrille::Communicator comm(MPI_COMM_WORLD);
    Elimination elimination(comm);
    elimination.run();
    const double error = elimination.substitute();
    right = error < 1e-9;
    if (comm.rank() == 0) std::printf("largest error %.1e: %s\n", error, right ? "right" : "wrong");
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
