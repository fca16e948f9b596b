// mg: Poisson's equation on a periodic cube by V-cycles: borders are exchanged on every grid, and messages get shorter
// from grid to grid, until a rank has two points a side. After NPB's mg.

#include <algorithm>
#include <cmath>
#include <memory>

#include "halo.hpp"

namespace {

constexpr double pi = 3.14159265358979323846;

// One of the grids: where -laplace(u) = f, with points in the middle of cells.
struct Level {
  Level(int side, const Grid<3>& grid)
      : n(side), u({side / grid.size[0], side / grid.size[1], side / grid.size[2]}, 1), f(u), r(u) {}
  int n;
  Box u;
  Box f;
  Box r;
};

template <class Action>
void for_points(const std::array<int, 3>& extent, Action&& action) {
  for (int i = 0; i < extent[0]; ++i) {
    for (int j = 0; j < extent[1]; ++j) {
      for (int k = 0; k < extent[2]; ++k) action(i, j, k);
    }
  }
}

void residual(Level& level, const Grid<3>& grid) {
  level.u.exchange(grid);
  const double scale = static_cast<double>(level.n) * level.n;
  for_points(level.u.extent(), [&](int i, int j, int k) {
    const double around = *level.u.at(i - 1, j, k) + *level.u.at(i + 1, j, k) + *level.u.at(i, j - 1, k) +
                          *level.u.at(i, j + 1, k) + *level.u.at(i, j, k - 1) + *level.u.at(i, j, k + 1);
    *level.r.at(i, j, k) = *level.f.at(i, j, k) - scale * (6 * *level.u.at(i, j, k) - around);
  });
}

void smooth(Level& level, const Grid<3>& grid, int times) {
  constexpr double damping = 6.0 / 7;
  for (int time = 0; time < times; ++time) {
    residual(level, grid);
    const double step = damping / (6.0 * level.n * level.n);
    for_points(level.u.extent(), [&](int i, int j, int k) { *level.u.at(i, j, k) += step * *level.r.at(i, j, k); });
  }
}

void restrict_to(Level& coarse, Level& fine) {
  for_points(coarse.f.extent(), [&](int i, int j, int k) {
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      sum += *fine.r.at(2 * i + (corner & 1), 2 * j + (corner >> 1 & 1), 2 * k + (corner >> 2));
    }
    *coarse.f.at(i, j, k) = sum / 8;
  });
  std::fill(coarse.u.values().begin(), coarse.u.values().end(), 0.0);
}

// Linear in each direction: three quarters of the cell that it is in, one of the next.
void correct(Level& fine, Level& coarse, const Grid<3>& grid) {
  coarse.u.exchange(grid);
  for_points(fine.u.extent(), [&](int i, int j, int k) {
    const std::array<int, 3> in = {i / 2, j / 2, k / 2};
    const std::array<int, 3> next = {i % 2 ? 1 : -1, j % 2 ? 1 : -1, k % 2 ? 1 : -1};
    double value = 0;
    for (int corner = 0; corner < 8; ++corner) {
      const int a = corner & 1;
      const int b = corner >> 1 & 1;
      const int c = corner >> 2;
      const double weight = (a ? 0.25 : 0.75) * (b ? 0.25 : 0.75) * (c ? 0.25 : 0.75);
      value += weight * *coarse.u.at(in[0] + a * next[0], in[1] + b * next[1], in[2] + c * next[2]);
    }
    *fine.u.at(i, j, k) += value;
  });
}

void cycle(std::vector<std::unique_ptr<Level>>& levels, std::size_t at, const Grid<3>& grid) {
  constexpr int on_coarsest = 20;
  if (at + 1 == levels.size()) return smooth(*levels[at], grid, on_coarsest);
  smooth(*levels[at], grid, 2);
  residual(*levels[at], grid);
  restrict_to(*levels[at + 1], *levels[at]);
  cycle(levels, at + 1, grid);
  correct(*levels[at], *levels[at + 1], grid);
  smooth(*levels[at], grid, 2);
}

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("mg", argc, argv);
  const int n = kernel.argument(0, 128);
  const int cycles = kernel.argument(1, 5);
  const Grid<3> grid(kernel.ranks, true);
  const int widest = std::max({grid.size[0], grid.size[1], grid.size[2]});
  std::vector<std::unique_ptr<Level>> levels;
  for (int side = n; grid.divides(side) && side / widest >= 2; side /= 2) {
    levels.push_back(std::make_unique<Level>(side, grid));
    if (side % 2 != 0) break;
  }
  kernel.require(!levels.empty(), "the side must be a multiple of the grid's sides, by an even number");
  Level& finest = *levels.front();
  // A wave is what the operator only scales: the right side, and the solution.
  const double eigenvalue = 4.0 * n * n * 3 * std::pow(std::sin(pi / n), 2);
  const auto solution = [&](int i, int j, int k) {
    const auto part = [&](int d, int at) {
      return std::sin(2 * pi * (grid.at[d] * finest.u.extent()[d] + at + 0.5) / n);
    };
    return part(0, i) * part(1, j) * part(2, k);
  };
  for_points(finest.f.extent(), [&](int i, int j, int k) { *finest.f.at(i, j, k) = eigenvalue * solution(i, j, k); });
  kernel.start();
  for (int time = 0; time < cycles; ++time) {
    cycle(levels, 0, grid);
    residual(finest, grid);
    double norm = 0;
    for_points(finest.r.extent(), [&](int i, int j, int k) { norm += *finest.r.at(i, j, k) * *finest.r.at(i, j, k); });
    sum_of_all(norm);
  }
  kernel.stop();
  double error = 0;
  for_points(finest.u.extent(), [&](int i, int j, int k) {
    error = std::max(error, std::abs(*finest.u.at(i, j, k) - solution(i, j, k)));
  });
  // At least by a factor of 3 in each cycle.
  return kernel.end("side " + std::to_string(n) + " on " + grid.text() + ", " + std::to_string(levels.size()) +
                        " grids, " + std::to_string(cycles) + " cycles",
                    error < std::pow(3.0, -cycles));
}
