// ft: a three-dimensional Fourier transform of a cube in slabs, and several inverse ones of what it becomes in time,
// each with one transpose: MPI_Alltoall of all ranks. After NPB's ft with its one-dimensional layout.

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "kernel.hpp"

namespace {

using Number = std::complex<double>;
using Cube = std::vector<Number>;  // this rank's planes of it

constexpr double pi = 3.14159265358979323846;
constexpr double diffusion = 1e-4;
constexpr std::array<int, 3> wave = {1, 2, 3};  // all there is in it: what becomes of that is known

// In place, of n = 2^k numbers that lie `stride` apart, unscaled.
void transform(Number* data, int n, int stride, int sign, const std::vector<Number>& roots) {
  for (int i = 1, j = 0; i < n; ++i) {
    int bit = n / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(data[i * stride], data[j * stride]);
  }
  for (int length = 2; length <= n; length *= 2) {
    for (int block = 0; block < n; block += length) {
      for (int k = 0; k < length / 2; ++k) {
        const Number root = sign > 0 ? roots[k * (n / length)] : std::conj(roots[k * (n / length)]);
        Number& low = data[(block + k) * stride];
        Number& high = data[(block + k + length / 2) * stride];
        const Number turned = root * high;
        high = low - turned;
        low += turned;
      }
    }
  }
}

class Transform {
 public:
  Transform(int n, int ranks) : n_(n), planes_(n / ranks), ranks_(ranks), packed_(size()) {
    for (int k = 0; k < n / 2; ++k) roots_.push_back(std::polar(1.0, 2 * pi * k / n));
  }
  std::size_t size() const { return static_cast<std::size_t>(planes_) * n_ * n_; }

  // Planes [own][y][x] of z become planes [own][y][z] of x, or the other way round.
  void run(Cube& cube, int sign) {
    for (int plane = 0; plane < planes_; ++plane) {
      Number* const at = cube.data() + static_cast<std::size_t>(plane) * n_ * n_;
      for (int i = 0; i < n_; ++i) transform(at + i * n_, n_, 1, sign, roots_);
      for (int i = 0; i < n_; ++i) transform(at + i, n_, n_, sign, roots_);
    }
    transpose(cube);
    for (int row = 0; row < planes_ * n_; ++row) {
      transform(cube.data() + static_cast<std::size_t>(row) * n_, n_, 1, sign, roots_);
    }
  }

 private:
  void transpose(Cube& cube) {
    const auto each = static_cast<std::size_t>(planes_) * n_ * planes_;
    std::size_t to = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      for (int plane = 0; plane < planes_; ++plane) {
        for (int y = 0; y < n_; ++y) {
          for (int x = 0; x < planes_; ++x) {
            packed_[to++] = cube[(static_cast<std::size_t>(plane) * n_ + y) * n_ + rank * planes_ + x];
          }
        }
      }
    }
    Cube received(cube.size());
    const int count = static_cast<int>(2 * each);
    MPI_Alltoall(packed_.data(), count, MPI_DOUBLE, received.data(), count, MPI_DOUBLE, MPI_COMM_WORLD);
    std::size_t from = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      for (int plane = 0; plane < planes_; ++plane) {
        for (int y = 0; y < n_; ++y) {
          for (int x = 0; x < planes_; ++x) {
            cube[(static_cast<std::size_t>(x) * n_ + y) * n_ + rank * planes_ + plane] = received[from++];
          }
        }
      }
    }
  }

  int n_;
  int planes_;
  int ranks_;
  std::vector<Number> roots_;
  Cube packed_;
};

double frequency(int i, int n) {
  return i < n / 2 ? i : i - n;
}

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("ft", argc, argv);
  const int n = kernel.argument(0, 128);
  const int inverses = kernel.argument(1, 4);
  kernel.require(n % kernel.ranks == 0 && (n & (n - 1)) == 0,
                 "the side must be a power of two and a multiple of the ranks");
  Transform fourier(n, kernel.ranks);
  const int planes = n / kernel.ranks;
  const int first = kernel.rank * planes;
  const auto value = [&](int x, int y, int z) {
    return std::polar(1.0, 2 * pi * (wave[0] * x + wave[1] * y + wave[2] * z) / n);
  };
  Cube cube(fourier.size());
  for (int p = 0; p < planes; ++p) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) cube[(static_cast<std::size_t>(p) * n + y) * n + x] = value(x, y, first + p);
    }
  }
  kernel.start();
  fourier.run(cube, -1);
  double worst = 0;
  for (int time = 1; time <= inverses; ++time) {
    Cube later = cube;  // [x][y][z]
    for (int p = 0; p < planes; ++p) {
      for (int y = 0; y < n; ++y) {
        for (int z = 0; z < n; ++z) {
          const double k[] = {frequency(first + p, n), frequency(y, n), frequency(z, n)};
          const double squares = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
          later[(static_cast<std::size_t>(p) * n + y) * n + z] *= std::exp(-4 * diffusion * pi * pi * squares * time);
        }
      }
    }
    fourier.run(later, 1);
    const double squares = wave[0] * wave[0] + wave[1] * wave[1] + wave[2] * wave[2];
    const double expected = std::exp(-4 * diffusion * pi * pi * squares * time) * n * n * n;
    for (int p = 0; p < planes; ++p) {
      for (int y = 0; y < n; y += 3) {
        for (int x = 0; x < n; x += 5) {
          const Number found = later[(static_cast<std::size_t>(p) * n + y) * n + x];
          worst = std::max(worst, std::abs(found / expected - value(x, y, first + p)));
        }
      }
    }
  }
  kernel.stop();
  return kernel.end("side " + std::to_string(n) + ", " + std::to_string(inverses + 1) + " transforms", worst < 1e-9);
}
