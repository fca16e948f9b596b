// A Fourier transform of two dimensions:
//
//   mpirun -n 4 fft [--size N] [--steps N]
//
// Each rank has some rows of a matrix of size x size complex numbers, size a power of two. A transform is one of each
// row, a transposition (MPI_Alltoall), and one of each row again. A step is a transform and its inverse. Checked: the
// transform of two plane waves is two points, and the inverse gives the waves again.

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "kernel.hpp"

namespace {

using Complex = std::complex<double>;

// Without the operator's care for infinities, which takes most of the time.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

struct Wave {
  std::int64_t row;  // its frequencies
  std::int64_t column;
  double height;
};
constexpr Wave waves[] = {{1, 3, 1.0}, {2, 0, 0.5}};

// The rows of a rank. Blocks have the same size on all ranks: rows and columns beyond the matrix are zero.
class Rows {
 public:
  explicit Rows(const kernel::Job& job)
      : size_(job.size()), ranks_(job.ranks()), block_((size_ + ranks_ - 1) / ranks_), first_(block_ * job.rank()) {
    const auto all = static_cast<std::size_t>(block_ * block_ * ranks_);
    data_.resize(all);
    sent_.resize(all);
    received_.resize(all);
    for (std::int64_t i = 0; i < size_ / 2; ++i) roots_.push_back(std::polar(1.0, -angle(i)));
    for (std::int64_t row = 0; row < count(); ++row) {
      for (std::int64_t column = 0; column < size_; ++column) at(row, column) = wave_at(row, column);
    }
  }

  void transform(bool inverse) {
    transform_rows(inverse);
    transpose();
    transform_rows(inverse);
  }

  double error_of_waves() {
    return error([this](auto row, auto column) { return wave_at(row, column); });
  }

  // Of the transform, which is transposed.
  double error_of_points() {
    return error([this](auto row, auto column) {
      double height = 0;
      for (const Wave& wave : waves) {
        if (wave.column == first_ + row && wave.row == column) height = wave.height;
      }
      return height * static_cast<double>(size_ * size_);
    });
  }

 private:
  std::int64_t count() const { return std::clamp(size_ - first_, std::int64_t{0}, block_); }
  Complex& at(std::int64_t row, std::int64_t column) {
    return data_[static_cast<std::size_t>(row * block_ * ranks_ + column)];
  }
  double angle(std::int64_t i) const { return 2 * M_PI * static_cast<double>(i) / static_cast<double>(size_); }

  Complex wave_at(std::int64_t row, std::int64_t column) const {
    Complex sum = 0;
    for (const Wave& wave : waves) {
      sum += std::polar(wave.height, angle((wave.row * (first_ + row) + wave.column * column) % size_));
    }
    return sum;
  }

  template <class Expected>
  double error(Expected&& expected) {
    double largest = 0;
    for (std::int64_t row = 0; row < count(); ++row) {
      for (std::int64_t column = 0; column < size_; ++column) {
        largest = std::max(largest, std::abs(at(row, column) - expected(row, column)));
      }
    }
    return largest;
  }

  void transform_rows(bool inverse) {
    for (std::int64_t row = 0; row < count(); ++row) transform_row(&at(row, 0), inverse);
  }

  // Radix 2: the order of reversed bits, then butterflies of growing length.
  void transform_row(Complex* row, bool inverse) const {
    for (std::int64_t i = 1, reversed = 0; i < size_; ++i) {
      std::int64_t bit = size_ / 2;
      for (; reversed & bit; bit /= 2) reversed ^= bit;
      reversed ^= bit;
      if (i < reversed) std::swap(row[i], row[reversed]);
    }
    for (std::int64_t half = 1; half < size_; half *= 2) {
      for (std::int64_t start = 0; start < size_; start += 2 * half) {
        for (std::int64_t i = start; i < start + half; ++i) {
          const Complex root = roots_[static_cast<std::size_t>((i - start) * (size_ / 2 / half))];
          const Complex odd = times(row[i + half], inverse ? std::conj(root) : root);
          row[i + half] = row[i] - odd;
          row[i] += odd;
        }
      }
    }
    if (inverse) std::for_each(row, row + size_, [this](Complex& one) { one /= static_cast<double>(size_); });
  }

  void transpose() {
    const auto in_block = [this](int peer, std::int64_t row, std::int64_t column) {
      return static_cast<std::size_t>((peer * block_ + row) * block_ + column);
    };
    const auto each = [this](auto&& move) {
      for (int peer = 0; peer < ranks_; ++peer) {
        for (std::int64_t row = 0; row < block_; ++row) {
          for (std::int64_t column = 0; column < block_; ++column) move(peer, row, column);
        }
      }
    };
    each(
        [&](int peer, auto row, auto column) { sent_[in_block(peer, column, row)] = at(row, peer * block_ + column); });
    const int count = static_cast<int>(block_ * block_);
    MPI_Alltoall(sent_.data(), count, MPI_C_DOUBLE_COMPLEX, received_.data(), count, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
    each([&](int peer, auto row, auto column) {
      at(row, peer * block_ + column) = received_[in_block(peer, row, column)];
    });
  }

  std::int64_t size_;
  int ranks_;
  std::int64_t block_;
  std::int64_t first_;
  std::vector<Complex> data_;
  std::vector<Complex> sent_;
  std::vector<Complex> received_;
  std::vector<Complex> roots_;
};

}  // namespace

int main(int argc, char** argv) {
  kernel::Job job(argc, argv, 256, 50);
  job.require(job.size() >= 4 && (job.size() & (job.size() - 1)) == 0, "size must be a power of two, at least 4");
  Rows rows(job);
  double error = 0;
  job.start();
  for (std::int64_t step = 0; step < job.steps(); ++step) {
    rows.transform(false);
    if (step == 0 || step + 1 == job.steps()) error = std::max(error, rows.error_of_points());
    rows.transform(true);
  }
  job.stop();
  return job.finish(std::max(error, rows.error_of_waves()), 1e-8);
}
