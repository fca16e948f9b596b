// Heat in a square plate, by Jacobi's method:
//
//   mpirun -n 4 heat [--size N] [--steps N]
//
// Each rank has some rows of a grid of size x size points. A step exchanges the rows at the borders with the neighbours
// (MPI_Sendrecv), replaces each point by the mean of its four neighbours, and adds up the change (MPI_Allreduce).
// Checked: sin(pi x) sin(pi y) is an eigenvector of that step, so that its decay is known exactly.

#include <cmath>
#include <utility>
#include <vector>

#include "kernel.hpp"

namespace {

struct Parameters {
  double width = 0;   // of a cell
  double factor = 0;  // of decay in a step
};

class Plate {
 public:
  Plate(const kernel::Job& job, const Parameters& parameters)
      : size_(job.size()), rows_(kernel::share_of(size_, job.rank(), job.ranks())), parameters_(parameters) {
    up_ = job.rank() > 0 ? job.rank() - 1 : MPI_PROC_NULL;
    down_ = job.rank() + 1 < job.ranks() ? job.rank() + 1 : MPI_PROC_NULL;
    now_.resize(static_cast<std::size_t>((rows_.count + 2) * (size_ + 2)));
    for (std::int64_t row = 1; row <= rows_.count; ++row) {
      for (std::int64_t column = 1; column <= size_; ++column) now_[at(row, column)] = start(row, column);
    }
    next_ = now_;
  }

  // Returns the root of the sum of squared changes of all ranks.
  double step() {
    exchange_borders();
    double change = 0;
    for (std::int64_t row = 1; row <= rows_.count; ++row) {
      for (std::int64_t column = 1; column <= size_; ++column) {
        const std::size_t here = at(row, column);
        next_[here] = 0.25 * (now_[at(row - 1, column)] + now_[at(row + 1, column)] + now_[here - 1] + now_[here + 1]);
        change += (next_[here] - now_[here]) * (next_[here] - now_[here]);
      }
    }
    std::swap(now_, next_);
    double all = 0;
    MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return std::sqrt(all);
  }

  double error(double decay) const {
    double largest = 0;
    for (std::int64_t row = 1; row <= rows_.count; ++row) {
      for (std::int64_t column = 1; column <= size_; ++column) {
        largest = std::fmax(largest, std::fabs(now_[at(row, column)] - decay * start(row, column)));
      }
    }
    return largest;
  }

 private:
  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * (size_ + 2) + column);
  }

  double start(std::int64_t row, std::int64_t column) const {
    const double unit = M_PI * parameters_.width;
    return std::sin(unit * static_cast<double>(rows_.first + row)) * std::sin(unit * static_cast<double>(column));
  }

  // Row 0 is the upper neighbour's last, row count + 1 the lower one's first.
  void exchange_borders() {
    const int count = static_cast<int>(size_);
    MPI_Sendrecv(&now_[at(1, 1)], count, MPI_DOUBLE, up_, 0, &now_[at(rows_.count + 1, 1)], count, MPI_DOUBLE, down_, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now_[at(rows_.count, 1)], count, MPI_DOUBLE, down_, 1, &now_[at(0, 1)], count, MPI_DOUBLE, up_, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  std::int64_t size_;
  kernel::Share rows_;
  Parameters parameters_;
  int up_;
  int down_;
  std::vector<double> now_;
  std::vector<double> next_;
};

}  // namespace

int main(int argc, char** argv) {
  kernel::Job job(argc, argv, 512, 200);
  job.require(job.size() >= job.ranks(), "size must be at least the number of ranks");
  Parameters parameters;
  if (job.rank() == 0) {
    parameters.width = 1 / static_cast<double>(job.size() + 1);
    parameters.factor = std::cos(M_PI * parameters.width);
  }
  job.start();
  MPI_Bcast(&parameters, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  Plate plate(job, parameters);
  double change = 0;
  for (std::int64_t step = 0; step < job.steps(); ++step) change = plate.step();
  job.stop();
  // Sines at these points have squares with a sum of (size + 1) / 2 in each dimension.
  const double before = std::pow(parameters.factor, static_cast<double>(job.steps() - 1));
  const double expected = before * (1 - parameters.factor) * static_cast<double>(job.size() + 1) / 2;
  const double decay = before * parameters.factor;
  return job.finish(std::fmax(plate.error(decay), std::fabs(change - expected)), 1e-9);
}
