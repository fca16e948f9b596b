// stencil2d: a square in blocks, several fields a point; in each step a point becomes a mean of itself and its four
// neighbours. Non-blocking messages to four ranks. Stands for NPB's bt, which also exchanges borders in two directions.

#include <algorithm>
#include <cmath>

#include "kernel.hpp"

namespace {

constexpr int fields = 16;
constexpr double pi = 3.14159265358979323846;
constexpr double own_share = 0.6;

// A wave for each field, which only shrinks.
double wave(int field, int i, int j, int n) {
  return std::cos(2 * pi * ((1 + field % 3) * i + (field / 3) * j) / n);
}
double shrinks(int field, int n) {
  return own_share +
         (1 - own_share) / 2 * (std::cos(2 * pi * (1 + field % 3) / n) + std::cos(2 * pi * (field / 3) / n));
}

class Block {
 public:
  Block(int width, int height)
      : width_(width), height_(height), values_((width + 2) * (height + 2) * fields), next_(values_) {}
  double* at(int i, int j) { return &values_[(static_cast<std::size_t>(i + 1) * (height_ + 2) + j + 1) * fields]; }

  void exchange(const Grid<2>& grid) {
    // Rows lie in one piece, columns in as many as there are rows.
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Type_vector(width_, fields, (height_ + 2) * fields, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    const int row = height_ * fields;
    std::array<MPI_Request, 8> requests = {};
    MPI_Irecv(at(-1, 0), row, MPI_DOUBLE, grid.below[0], 0, grid.comm, &requests[0]);
    MPI_Irecv(at(width_, 0), row, MPI_DOUBLE, grid.above[0], 1, grid.comm, &requests[1]);
    MPI_Irecv(at(0, -1), 1, column, grid.below[1], 2, grid.comm, &requests[2]);
    MPI_Irecv(at(0, height_), 1, column, grid.above[1], 3, grid.comm, &requests[3]);
    MPI_Isend(at(width_ - 1, 0), row, MPI_DOUBLE, grid.above[0], 0, grid.comm, &requests[4]);
    MPI_Isend(at(0, 0), row, MPI_DOUBLE, grid.below[0], 1, grid.comm, &requests[5]);
    MPI_Isend(at(0, height_ - 1), 1, column, grid.above[1], 2, grid.comm, &requests[6]);
    MPI_Isend(at(0, 0), 1, column, grid.below[1], 3, grid.comm, &requests[7]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    MPI_Type_free(&column);
  }

  void step() {
    for (int i = 0; i < width_; ++i) {
      for (int j = 0; j < height_; ++j) {
        const double* const here = at(i, j);
        const double* const near[] = {at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1)};
        double* const after = next_.data() + (here - values_.data());
        for (int f = 0; f < fields; ++f) {
          after[f] = own_share * here[f] + (1 - own_share) / 4 * (near[0][f] + near[1][f] + near[2][f] + near[3][f]);
        }
      }
    }
    values_.swap(next_);
  }

 private:
  int width_;
  int height_;
  std::vector<double> values_;
  std::vector<double> next_;
};

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("stencil2d", argc, argv);
  const int n = kernel.argument(0, 512);
  const int steps = kernel.argument(1, 100);
  const Grid<2> grid(kernel.ranks, true);
  kernel.require(grid.divides(n), "the side must be a multiple of the grid's sides");
  const int width = n / grid.size[0];
  const int height = n / grid.size[1];
  Block block(width, height);
  const auto for_all = [&](auto&& action) {
    for (int i = 0; i < width; ++i) {
      for (int j = 0; j < height; ++j) {
        for (int f = 0; f < fields; ++f) {
          action(block.at(i, j)[f], wave(f, grid.at[0] * width + i, grid.at[1] * height + j, n), f);
        }
      }
    }
  };
  for_all([](double& value, double initial, int) { value = initial; });
  kernel.start();
  for (int k = 0; k < steps; ++k) {
    block.exchange(grid);
    block.step();
  }
  kernel.stop();
  double worst = 0;
  for_all([&](double& value, double initial, int field) {
    worst = std::max(worst, std::abs(value - initial * std::pow(shrinks(field, n), steps)));
  });
  return kernel.end("side " + std::to_string(n) + " on " + grid.text() + ", " + std::to_string(steps) + " steps",
                    worst < 1e-9);
}
