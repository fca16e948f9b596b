// lu: sweeps that depend on the point before in all three directions, of a cube that is divided in two of them: a wave
// runs over the ranks from one corner to the other, plane by plane, in many short messages; then back. After NPB's lu.

#include <cmath>

#include "kernel.hpp"

namespace {

constexpr int fields = 5;
constexpr double weight = 0.3;

double load(int i, int j, int k, int field) {
  return std::sin(1 + 0.1 * i + 0.2 * j + 0.3 * k + field);
}

// A box of points with one layer around it, which is 0 at the borders of the cube.
class Box {
 public:
  Box(int width, int height, int depth) : width_(width), height_(height), depth_(depth) {
    values_.resize(static_cast<std::size_t>(width + 2) * (height + 2) * (depth + 2) * fields);
  }
  double* at(int i, int j, int k) {
    return &values_[((static_cast<std::size_t>(k + 1) * (height_ + 2) + j + 1) * (width_ + 2) + i + 1) * fields];
  }
  // Plane k, in the direction of the sweep: each point from those before it.
  void relax(int k, int step, int first_i, int first_j) {
    for (int jj = 0; jj < height_; ++jj) {
      const int j = step > 0 ? jj : height_ - 1 - jj;
      for (int ii = 0; ii < width_; ++ii) {
        const int i = step > 0 ? ii : width_ - 1 - ii;
        double* const here = at(i, j, k);
        const double* const left = at(i - step, j, k);
        const double* const below = at(i, j - step, k);
        const double* const before = at(i, j, k - step);
        for (int f = 0; f < fields; ++f) {
          here[f] = 0.1 * here[f] + weight * (left[f] + below[f] + before[f]) + load(first_i + i, first_j + j, k, f);
        }
      }
    }
  }
  double sum() {
    double all = 0;
    for (int k = 0; k < depth_; ++k) {
      for (int j = 0; j < height_; ++j) {
        for (int i = 0; i < width_; ++i) {
          for (int f = 0; f < fields; ++f) all += at(i, j, k)[f];
        }
      }
    }
    return all;
  }
  int width() const { return width_; }
  int height() const { return height_; }

 private:
  int width_;
  int height_;
  int depth_;
  std::vector<double> values_;
};

// The edges of a plane, one row of points along each of the two divided directions.
void copy_edge(Box& box, bool along_j, int at, int k, std::vector<double>& edge, bool into_box) {
  const int length = along_j ? box.height() : box.width();
  edge.resize(static_cast<std::size_t>(length) * fields);
  for (int n = 0; n < length; ++n) {
    double* const point = along_j ? box.at(at, n, k) : box.at(n, at, k);
    for (int f = 0; f < fields; ++f)
      (into_box ? point[f] : edge[n * fields + f]) = into_box ? edge[n * fields + f] : point[f];
  }
}

void sweep(Box& box, const Grid<2>& grid, int n, int step) {
  std::vector<double> edge;
  for (int plane = 0; plane < n; ++plane) {
    const int k = step > 0 ? plane : n - 1 - plane;
    for (int d = 0; d < 2; ++d) {
      const int extent = d == 0 ? box.width() : box.height();
      const int source = step > 0 ? grid.below[d] : grid.above[d];
      if (source == MPI_PROC_NULL) continue;
      copy_edge(box, d == 0, step > 0 ? -1 : extent, k, edge, false);
      MPI_Recv(edge.data(), static_cast<int>(edge.size()), MPI_DOUBLE, source, d, grid.comm, MPI_STATUS_IGNORE);
      copy_edge(box, d == 0, step > 0 ? -1 : extent, k, edge, true);
    }
    box.relax(k, step, grid.at[0] * box.width(), grid.at[1] * box.height());
    for (int d = 0; d < 2; ++d) {
      const int extent = d == 0 ? box.width() : box.height();
      const int target = step > 0 ? grid.above[d] : grid.below[d];
      if (target == MPI_PROC_NULL) continue;
      copy_edge(box, d == 0, step > 0 ? extent - 1 : 0, k, edge, false);
      MPI_Send(edge.data(), static_cast<int>(edge.size()), MPI_DOUBLE, target, d, grid.comm);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("lu", argc, argv);
  const int n = kernel.argument(0, 64);
  const int iterations = kernel.argument(1, 6);
  const Grid<2> grid(kernel.ranks, false);
  kernel.require(grid.divides(n), "the side must be a multiple of the grid's sides");
  Box box(n / grid.size[0], n / grid.size[1], n);
  kernel.start();
  for (int i = 0; i < iterations; ++i) {
    sweep(box, grid, n, 1);
    sweep(box, grid, n, -1);
  }
  kernel.stop();
  const double sum = sum_of_all(box.sum());
  bool right = true;
  if (kernel.rank == 0) {
    // Layers between ranks are kept from sweep to sweep, and so they must be here, where they are points.
    Box whole(n, n, n);
    for (int i = 0; i < iterations; ++i) {
      for (int k = 0; k < n; ++k) whole.relax(k, 1, 0, 0);
      for (int k = n - 1; k >= 0; --k) whole.relax(k, -1, 0, 0);
    }
    right = std::abs(whole.sum() - sum) < 1e-9 * std::abs(sum);
  }
  return kernel.end(
      "side " + std::to_string(n) + " on " + grid.text() + ", " + std::to_string(iterations) + " iterations", right);
}
