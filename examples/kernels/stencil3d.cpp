// stencil3d: a cube in boxes, several fields a point; in each step a point becomes a mean of itself and its six
// neighbours. Messages along one direction after the other. Stands for NPB's sp, whose messages are as large.

#include <algorithm>
#include <cmath>

#include "halo.hpp"

namespace {

constexpr int fields = 5;
constexpr double pi = 3.14159265358979323846;
constexpr double own_share = 0.5;

// A wave for each field, which only shrinks.
double wave(int field, int i, int j, int k, int n) {
  return std::cos(2 * pi * ((1 + field) * i + j + 2 * k) / n);
}
double shrinks(int field, int n) {
  const double around = std::cos(2 * pi * (1 + field) / n) + std::cos(2 * pi / n) + std::cos(4 * pi / n);
  return own_share + (1 - own_share) / 3 * around;
}

void step(Box& box, Box& next) {
  const auto [width, height, depth] = box.extent();
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < height; ++j) {
      for (int k = 0; k < depth; ++k) {
        const double* const near[] = {box.at(i - 1, j, k), box.at(i + 1, j, k), box.at(i, j - 1, k),
                                      box.at(i, j + 1, k), box.at(i, j, k - 1), box.at(i, j, k + 1)};
        const double* const here = box.at(i, j, k);
        double* const after = next.at(i, j, k);
        for (int f = 0; f < fields; ++f) {
          const double sum = near[0][f] + near[1][f] + near[2][f] + near[3][f] + near[4][f] + near[5][f];
          after[f] = own_share * here[f] + (1 - own_share) / 6 * sum;
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("stencil3d", argc, argv);
  const int n = kernel.argument(0, 96);
  const int steps = kernel.argument(1, 30);
  const Grid<3> grid(kernel.ranks, true);
  kernel.require(grid.divides(n), "the side must be a multiple of the grid's sides");
  const std::array<int, 3> extent = {n / grid.size[0], n / grid.size[1], n / grid.size[2]};
  Box box(extent, fields);
  Box next(extent, fields);
  const auto for_all = [&](auto&& action) {
    for (int i = 0; i < extent[0]; ++i) {
      for (int j = 0; j < extent[1]; ++j) {
        for (int k = 0; k < extent[2]; ++k) {
          for (int f = 0; f < fields; ++f) {
            action(box.at(i, j, k)[f],
                   wave(f, grid.at[0] * extent[0] + i, grid.at[1] * extent[1] + j, grid.at[2] * extent[2] + k, n), f);
          }
        }
      }
    }
  };
  for_all([](double& value, double initial, int) { value = initial; });
  kernel.start();
  for (int time = 0; time < steps; ++time) {
    box.exchange(grid);
    step(box, next);
    std::swap(box, next);
  }
  kernel.stop();
  double worst = 0;
  for_all([&](double& value, double initial, int field) {
    worst = std::max(worst, std::abs(value - initial * std::pow(shrinks(field, n), steps)));
  });
  return kernel.end("side " + std::to_string(n) + " on " + grid.text() + ", " + std::to_string(steps) + " steps",
                    worst < 1e-9);
}
