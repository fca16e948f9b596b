// Moves particles through a periodic box that is divided into slabs, one per rank. After each step particles that have
// left their slab migrate to the rank that owns the new one, within their arrays: there is no second set of arrays.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <quadrille/quadrille.hpp>
#include <random>
#include <span>
#include <tuple>
#include <vector>

namespace {

using Vector = std::array<double, 3>;

constexpr std::int64_t average = 20000;         // particles per rank
constexpr std::int64_t room = average * 3 / 2;  // capacity of each rank
constexpr int steps = 10;

struct Particles {
  std::vector<Vector> positions;
  std::vector<Vector> velocities;
  std::vector<std::int64_t> ids;

  std::size_t size() const { return ids.size(); }
};

// The slab, and thus the rank, of a position.
int owner(const Vector& position, int ranks) {
  return std::min(static_cast<int>(position[0] * ranks), ranks - 1);
}

// Every rank generates particles in the whole box.
Particles draw(int rank) {
  std::mt19937 random(static_cast<unsigned>(rank));
  std::uniform_real_distribution<double> place(0, 1);
  std::normal_distribution<double> speed(0, 0.01);
  Particles drawn;
  drawn.positions.reserve(room);
  drawn.velocities.reserve(room);
  drawn.ids.reserve(room);
  for (std::int64_t i = 0; i < average; ++i) {
    drawn.positions.push_back({place(random), place(random), place(random)});
    drawn.velocities.push_back({speed(random), speed(random), speed(random)});
    drawn.ids.push_back(average * rank + i);
  }
  return drawn;
}

// Each particle migrates to its owner. All arrays are resized to the received length, and are not reallocated if that
// fits their capacity.
quadrille::ExchangeResult deal(quadrille::Communicator& comm, Particles& particles) {
  const auto rank_of = [&comm](const Vector& position, const Vector&, std::int64_t) {
    return owner(position, comm.size());
  };
  return comm.redistribute(std::tie(particles.positions, particles.velocities, particles.ids), rank_of);
}

void step(Particles& particles) {
  for (std::size_t i = 0; i < particles.size(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double& x = particles.positions[i][axis];
      x += particles.velocities[i][axis];
      x -= std::floor(x);
    }
  }
}

// Sums over all ranks for the check, and the maximum memory.
struct Summary {
  std::int64_t count = 0;
  std::int64_t sum_of_ids = 0;
  std::int64_t strangers = 0;  // not in their rank's slab
  std::int64_t moved = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t received_bytes = 0;
};

struct Join {
  Summary operator()(const Summary& a, const Summary& b) const {
    return {a.count + b.count, a.sum_of_ids + b.sum_of_ids,          a.strangers + b.strangers,
            a.moved + b.moved, std::max(a.peak_bytes, b.peak_bytes), std::max(a.received_bytes, b.received_bytes)};
  }
};

bool simulate() {
  quadrille::Communicator comm(MPI_COMM_WORLD);
  Particles particles = draw(comm.rank());
  deal(comm, particles);

  Summary summary;
  for (int i = 0; i < steps; ++i) {
    step(particles);
    const quadrille::ExchangeResult moved = deal(comm, particles);
    const auto all = static_cast<std::int64_t>(particles.size());
    const std::int64_t bytes = all * static_cast<std::int64_t>(2 * sizeof(Vector) + sizeof(std::int64_t));
    summary.moved += all - moved.counts[static_cast<std::size_t>(comm.rank())];
    summary.peak_bytes = std::max(summary.peak_bytes, moved.peak_bytes);
    summary.received_bytes = std::max(summary.received_bytes, bytes);
  }

  summary.count = static_cast<std::int64_t>(particles.size());
  summary.sum_of_ids = std::reduce(particles.ids.begin(), particles.ids.end());
  summary.strangers = std::count_if(particles.positions.begin(), particles.positions.end(),
                                    [&](const Vector& one) { return owner(one, comm.size()) != comm.rank(); });
  comm.allreduce(std::span(&summary, 1), std::span(&summary, 1), Join{});
  const std::int64_t wanted = average * comm.size();
  const bool right =
      summary.count == wanted && summary.sum_of_ids == wanted * (wanted - 1) / 2 && summary.strangers == 0;
  if (comm.rank() == 0) {
    std::printf(
        "%lld particles, %lld migrations in %d steps: %s; %lld bytes per rank beside the arrays, a second set would "
        "take %lld\n",
        static_cast<long long>(summary.count), static_cast<long long>(summary.moved), steps, right ? "right" : "WRONG",
        static_cast<long long>(summary.peak_bytes), static_cast<long long>(summary.received_bytes));
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = false;
  try {
    right = simulate();
  } catch (const quadrille::Error& error) {
    // If the arrays are too small, every rank throws with the capacity to reserve.
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
