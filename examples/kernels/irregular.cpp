// irregular: areas of very different sizes, one a rank, joined by ties between some of them, as a power grid's. In each
// step the ends of ties are exchanged (alltoallv, most counts 0), a part of each area's state goes to all (allgatherv),
// and every tenth step the first rank collects everything (gatherv). In the paper's place of PAPSM, on 20 ranks.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "kernel.hpp"

namespace {

std::uint64_t hash_of(int a, int b, int c) {
  std::uint64_t x =
      (static_cast<std::uint64_t>(a) << 40) ^ (static_cast<std::uint64_t>(b) << 20) ^ static_cast<unsigned>(c);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// From 1/8 of the scale to the whole.
int size_of(int area, int scale) {
  return scale / 8 + static_cast<int>(hash_of(area, 0, 1) % static_cast<unsigned>(scale * 7 / 8));
}

// The same both ways: three of ten pairs of areas have ties, and the larger they are, the more.
int ties_between(int one, int other, int scale) {
  const auto [low, high] = std::minmax(one, other);
  if (low == high || (high - low > 1 && hash_of(low, high, 2) % 10 >= 3)) return 0;
  return std::min(size_of(low, scale), size_of(high, scale)) / 4;
}

// Where a tie ends in an area.
int end_of(int area, int other, int tie, int scale) {
  return static_cast<int>(hash_of(area, other, tie + 3) % static_cast<unsigned>(size_of(area, scale)));
}

// Every point: (1 + 2 ties) x = 1 + ties + the sum over its ties of the other end. All ones solve it.
class Area {
 public:
  Area(const Kernel& kernel, int scale)
      : own_(kernel.rank),
        state_(size_of(own_, scale)),
        ties_(state_.size()),
        counts_(kernel.ranks),
        from_(kernel.ranks),
        parts_(kernel.ranks),
        parts_from_(kernel.ranks),
        sizes_(kernel.ranks),
        sizes_from_(kernel.ranks) {
    for (int other = 0; other < kernel.ranks; ++other) {
      counts_[other] = ties_between(own_, other, scale);
      parts_[other] = size_of(other, scale) / 16;
      sizes_[other] = size_of(other, scale);
      for (int tie = 0; tie < counts_[other]; ++tie) ends_.push_back(end_of(own_, other, tie, scale));
    }
    std::exclusive_scan(counts_.begin(), counts_.end(), from_.begin(), 0);
    std::exclusive_scan(parts_.begin(), parts_.end(), parts_from_.begin(), 0);
    std::exclusive_scan(sizes_.begin(), sizes_.end(), sizes_from_.begin(), 0);
    for (const int end : ends_) ties_[end] += 1;
    out_.resize(ends_.size());
    in_.resize(ends_.size());
    all_parts_.resize(parts_from_.back() + parts_.back());
    if (own_ == 0) everything_.resize(sizes_from_.back() + sizes_.back());
  }

  // Returns the mean of the parts that all ranks have.
  double step() {
    for (std::size_t i = 0; i < ends_.size(); ++i) out_[i] = state_[ends_[i]];
    MPI_Alltoallv(out_.data(), counts_.data(), from_.data(), MPI_DOUBLE, in_.data(), counts_.data(), from_.data(),
                  MPI_DOUBLE, MPI_COMM_WORLD);
    std::vector<double> sums(state_.size());
    for (std::size_t i = 0; i < ends_.size(); ++i) sums[ends_[i]] += in_[i];
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] = (1 + ties_[i] + sums[i]) / (1 + 2 * ties_[i]);
    MPI_Allgatherv(state_.data(), parts_[own_], MPI_DOUBLE, all_parts_.data(), parts_.data(), parts_from_.data(),
                   MPI_DOUBLE, MPI_COMM_WORLD);
    return std::accumulate(all_parts_.begin(), all_parts_.end(), 0.0) / static_cast<double>(all_parts_.size());
  }

  // The error that rank 0 sees.
  double collect() {
    MPI_Gatherv(state_.data(), sizes_[own_], MPI_DOUBLE, everything_.data(), sizes_.data(), sizes_from_.data(),
                MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double worst = 0;
    for (const double value : everything_) worst = std::max(worst, std::abs(value - 1));
    return worst;
  }

 private:
  int own_;
  std::vector<double> state_;
  std::vector<int> ties_;  // at each point
  std::vector<int> counts_, from_;
  std::vector<int> parts_, parts_from_;
  std::vector<int> sizes_, sizes_from_;
  std::vector<int> ends_;  // of ties, by the rank that they lead to
  std::vector<double> out_, in_, all_parts_, everything_;
};

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("irregular", argc, argv);
  const int scale = kernel.argument(0, 8192);
  const int steps = kernel.argument(1, 60);
  Area area(kernel, scale);
  double mean = 0;
  double error = 0;
  kernel.start();
  for (int time = 1; time <= steps; ++time) {
    mean = area.step();
    if (time % 10 == 0) error = area.collect();
  }
  kernel.stop();
  const bool right = std::abs(mean - 1) < 1e-6 && error < 1e-5;
  return kernel.end("scale " + std::to_string(scale) + ", " + std::to_string(steps) + " steps", right);
}
