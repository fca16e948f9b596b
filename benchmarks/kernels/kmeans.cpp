// Clusters of points, by k-means:
//
//   mpirun -n 4 kmeans [--size N] [--steps N]
//
// Each rank has size points in 8 dimensions, around 16 centres. Rank 0 has a first guess (MPI_Bcast). A step assigns
// each point to the nearest centroid, and adds up the points of each and their number (two MPI_Allreduce). Checked:
// which centre a point belongs to is known, and so are the number of its points and, up to chance, their mean.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernel.hpp"

namespace {

constexpr std::size_t dimensions = 8;
constexpr std::size_t clusters = 16;
constexpr double spread = 0.1;  // of the points around a centre; centres are at least 2 apart

using Vector = std::vector<double>;

// A corner of the cube with edges of 2: bits of the cluster, and once more in other dimensions.
double centre(std::size_t cluster, std::size_t dimension) {
  return (cluster >> (dimension % 4) & 1U) == 0 ? -1 : 1;
}

Vector points_of(const kernel::Job& job) {
  Vector points(static_cast<std::size_t>(job.size()) * dimensions);
  const std::size_t start = points.size() * static_cast<std::size_t>(job.rank());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t cluster = i / dimensions % clusters;
    points[i] = centre(cluster, i % dimensions) + spread * kernel::noise(start + i);
  }
  return points;
}

std::size_t nearest(const double* point, const Vector& centroids) {
  std::size_t found = 0;
  double least = std::numeric_limits<double>::max();
  for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
    double square = 0;
    for (std::size_t i = 0; i < dimensions; ++i) {
      const double away = point[i] - centroids[cluster * dimensions + i];
      square += away * away;
    }
    if (square < least) {
      least = square;
      found = cluster;
    }
  }
  return found;
}

struct Sums {
  Vector points = Vector(clusters * dimensions);
  std::vector<std::int64_t> counts = std::vector<std::int64_t>(clusters);
};

Sums assign(const Vector& points, const Vector& centroids) {
  Sums own;
  for (std::size_t start = 0; start < points.size(); start += dimensions) {
    const std::size_t cluster = nearest(&points[start], centroids);
    for (std::size_t i = 0; i < dimensions; ++i) own.points[cluster * dimensions + i] += points[start + i];
    ++own.counts[cluster];
  }
  return own;
}

Sums of_all_ranks(const Sums& own) {
  Sums all;
  MPI_Allreduce(own.points.data(), all.points.data(), static_cast<int>(own.points.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  MPI_Allreduce(own.counts.data(), all.counts.data(), static_cast<int>(own.counts.size()), MPI_INT64_T, MPI_SUM,
                MPI_COMM_WORLD);
  return all;
}

// In standard deviations of a mean, of which each of the 128 coordinates has one; wrong counts are beyond any.
double error_of(const kernel::Job& job, const Sums& sums, const Vector& centroids) {
  double largest = 0;
  for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
    const auto here = static_cast<std::int64_t>(cluster);
    const std::int64_t on_a_rank =
        (job.size() + static_cast<std::int64_t>(clusters) - 1 - here) / static_cast<std::int64_t>(clusters);
    const std::int64_t count = on_a_rank * job.ranks();
    if (sums.counts[cluster] != count) return 1e9;
    const double deviation = spread / std::sqrt(3.0 * static_cast<double>(count));
    for (std::size_t i = 0; i < dimensions; ++i) {
      largest = std::max(largest, std::fabs(centroids[cluster * dimensions + i] - centre(cluster, i)) / deviation);
    }
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  kernel::Job job(argc, argv, 20000, 100);
  job.require(job.size() >= static_cast<std::int64_t>(clusters), "size must be at least 16");
  const Vector points = points_of(job);
  Vector centroids(clusters * dimensions);
  if (job.rank() == 0) {
    for (std::size_t i = 0; i < centroids.size(); ++i) {
      centroids[i] = centre(i / dimensions, i % dimensions) + 0.5 * kernel::noise(i);
    }
  }
  Sums sums;
  job.start();
  MPI_Bcast(centroids.data(), static_cast<int>(centroids.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (std::int64_t step = 0; step < job.steps(); ++step) {
    sums = of_all_ranks(assign(points, centroids));
    for (std::size_t i = 0; i < centroids.size(); ++i) {
      centroids[i] = sums.points[i] / static_cast<double>(std::max(sums.counts[i / dimensions], std::int64_t{1}));
    }
  }
  job.stop();
  return job.finish(error_of(job, sums, centroids), 6);
}
