// Training by stochastic gradient descent, the data divided among the ranks:
//
//   mpirun -n 4 sgd [--size N] [--steps N]
//
// A linear model of size weights, of 4 bytes each: 64 inputs, size / 64 outputs. In a step each rank computes the
// gradient on 4 new samples of its own, which are noisy, and all gradients are added up (MPI_Allreduce). Checked: the
// last sum, against that of all samples computed on each rank, and that the weights approach those behind the samples.

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel.hpp"

namespace {

constexpr std::int64_t inputs = 64;
constexpr std::int64_t samples = 4;  // of a rank in a step
constexpr float blur = 0.05F;        // of outputs: without it gradients would vanish

using Vector = std::vector<float>;

class Model {
 public:
  explicit Model(const kernel::Job& job)
      : ranks_(job.ranks()), outputs_(job.size() / inputs), weights_(count()), wanted_(count()) {
    for (std::size_t i = 0; i < wanted_.size(); ++i) wanted_[i] = static_cast<float>(kernel::noise(i));
  }

  std::size_t count() const { return static_cast<std::size_t>(inputs * outputs_); }

  // Adds the gradient on a rank's samples.
  void add_gradient(std::int64_t step, int rank, Vector& gradient) const {
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      float input[inputs];
      const std::int64_t number = (step * ranks_ + rank) * samples + sample;
      for (std::int64_t i = 0; i < inputs; ++i) {
        input[i] = static_cast<float>(kernel::noise(static_cast<std::uint64_t>((number + (1L << 40)) * inputs + i)));
      }
      for (std::int64_t output = 0; output < outputs_; ++output) {
        const auto row = static_cast<std::size_t>(output * inputs);
        float error = blur * static_cast<float>(kernel::noise(static_cast<std::uint64_t>(number * outputs_ + output)));
        for (std::size_t i = 0; i < inputs; ++i) error += (weights_[row + i] - wanted_[row + i]) * input[i];
        for (std::size_t i = 0; i < inputs; ++i) gradient[row + i] += error * input[i];
      }
    }
  }

  // The rate at which the mean squared error falls fastest, inputs having a variance of 1/3.
  double rate() const {
    const double all = static_cast<double>(samples * ranks_);
    return 3 / (1 + static_cast<double>(inputs) / all);
  }

  void descend(const Vector& gradient) {
    const auto factor = static_cast<float>(rate() / static_cast<double>(samples * ranks_));
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] -= factor * gradient[i];
  }

  // Root mean square.
  double distance() const {
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double away = weights_[i] - wanted_[i];
      sum += away * away;
    }
    return std::sqrt(sum / static_cast<double>(weights_.size()));
  }

 private:
  int ranks_;
  std::int64_t outputs_;
  Vector weights_;
  Vector wanted_;
};

// Relative to the largest number in it.
double difference(const Vector& sum, const Vector& expected) {
  double largest = 0;
  double away = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::fabs(expected[i])));
    away = std::max(away, static_cast<double>(std::fabs(sum[i] - expected[i])));
  }
  return largest > 0 ? away / largest : away;
}

}  // namespace

int main(int argc, char** argv) {
  kernel::Job job(argc, argv, 65536, 100);
  job.require(job.size() % inputs == 0, "size must be a multiple of 64");
  Model model(job);
  Vector own(model.count());
  Vector sum(model.count());
  const double before = model.distance();
  double error = 0;
  job.start();
  for (std::int64_t step = 0; step < job.steps(); ++step) {
    std::fill(own.begin(), own.end(), 0.0F);
    model.add_gradient(step, job.rank(), own);
    MPI_Allreduce(own.data(), sum.data(), static_cast<int>(own.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (step + 1 == job.steps()) {
      job.stop();
      Vector expected(model.count());
      for (int rank = 0; rank < job.ranks(); ++rank) model.add_gradient(step, rank, expected);
      error = difference(sum, expected);
    }
    model.descend(sum);
  }
  // The squares of the distance fall by this factor a step, on average; half of that must be reached, until what is
  // left is noise.
  const double factor = 1 - model.rate() / 3;
  const double least = std::max(std::pow(factor, 0.25 * static_cast<double>(job.steps())), 0.1);
  if (model.distance() > before * least) error = 1;
  return job.finish(error, 1e-4);
}
