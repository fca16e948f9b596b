// ep: pairs of Gaussian random numbers, counted by their size; ranks meet only in one reduction at the end. The
// control: no placement can matter. After NPB's ep, with its generator and its seed, so that its published sums check
// the result.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.hpp"

namespace {

constexpr std::uint64_t modulus_mask = (std::uint64_t{1} << 46) - 1;
constexpr std::uint64_t multiplier = 1220703125;  // 5^13
constexpr std::uint64_t seed = 271828183;

// The generator x -> a x modulo 2^46, after so many steps.
std::uint64_t after(std::uint64_t steps) {
  std::uint64_t x = seed;
  for (std::uint64_t a = multiplier; steps > 0; steps /= 2) {
    if (steps % 2 == 1) x = x * a & modulus_mask;
    a = a * a & modulus_mask;
  }
  return x;
}

struct Sums {
  double x = 0;
  double y = 0;
  std::array<double, 10> counts = {};
};

Sums pairs_between(std::uint64_t begin, std::uint64_t end) {
  Sums sums;
  std::uint64_t state = after(2 * begin);
  const auto next = [&state] {
    state = state * multiplier & modulus_mask;
    return 2 * std::ldexp(static_cast<double>(state), -46) - 1;
  };
  for (std::uint64_t i = begin; i < end; ++i) {
    const double x = next();
    const double y = next();
    const double square = x * x + y * y;
    if (square > 1) continue;
    const double factor = std::sqrt(-2 * std::log(square) / square);
    sums.x += x * factor;
    sums.y += y * factor;
    sums.counts[static_cast<std::size_t>(std::max(std::abs(x * factor), std::abs(y * factor)))] += 1;
  }
  return sums;
}

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("ep", argc, argv);
  const int power = kernel.argument(0, 24);
  const std::uint64_t pairs = std::uint64_t{1} << power;
  const auto ranks = static_cast<std::uint64_t>(kernel.ranks);
  const auto rank = static_cast<std::uint64_t>(kernel.rank);
  kernel.start();
  const Sums mine = pairs_between(pairs * rank / ranks, pairs * (rank + 1) / ranks);
  Sums all;
  MPI_Allreduce(&mine, &all, sizeof(Sums) / sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  kernel.stop();
  // NPB's class S; other sizes are counted again by rank 0 alone.
  Sums expected{-3.247834652034740e3, -6.958407078382297e3};
  if (power != 24 && kernel.rank == 0) expected = pairs_between(0, pairs);
  const auto is_near = [](double a, double b) { return std::abs(a - b) <= 1e-8 * std::abs(b); };
  const bool right = kernel.rank != 0 || (is_near(all.x, expected.x) && is_near(all.y, expected.y));
  return kernel.end("2^" + std::to_string(power) + " pairs", right);
}
