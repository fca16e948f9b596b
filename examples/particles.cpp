// Moves particles through a periodic box that is cut into slabs, one for each rank. After each step those who have left
// their slab go to the rank that owns the new one, within the arrays that hold them: there is no second set of arrays.

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

constexpr std::int64_t average = 20000;         // particles a rank
constexpr std::int64_t room = average * 3 / 2;  // that each has memory for
constexpr int steps = 10;

struct Particles {
  std::vector<Vector> positions;
  std::vector<Vector> velocities;
  std::vector<std::int64_t> ids;

  std::size_t size() const { return ids.size(); }
};

// The slab, and the rank, that a position falls into.
int owner(const Vector& position, int ranks) {
  return std::min(static_cast<int>(position[0] * ranks), ranks - 1);
}

// Every rank draws its own, from all over the box.
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

// Each particle goes to its owner. All arrays become as long as what they receive, and stay where they are as long as
// that fits their capacity.
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

// What the check wants to know, summed up over all ranks, and the largest amounts of memory.
struct Summary {
  std::int64_t count = 0;
  std::int64_t sum_of_ids = 0;
  std::int64_t strangers = 0;  // not in the slab of their rank
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
        "%lld particles, %lld moves to another rank in %d steps: %s; %lld bytes a rank beside the arrays, a "
        "second set would take %lld\n",
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
    // If the arrays have too little room it says how much to reserve, on every rank.
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
