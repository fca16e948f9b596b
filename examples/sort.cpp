// Sorts keys across ranks within bounded memory: each rank sorts its own, samples of all of them name the borders
// between the ranks' shares, each key goes to its share within the vector that holds it, and each rank sorts what came.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <quadrille/quadrille.hpp>
#include <random>
#include <span>
#include <vector>

namespace {

using Key = std::uint64_t;
using Keys = std::vector<Key>;
using Counts = std::vector<std::int64_t>;

constexpr std::size_t keys_each = 250000;
constexpr std::size_t oversampling = 16;  // samples of each rank for each share

std::size_t samples_of(int ranks) {
  return oversampling * static_cast<std::size_t>(ranks);
}

// No share is larger, if keys are all different. It holds as many samples as one rank takes; each stands for the keys
// up to it, and each rank may add some behind its last sample in the share, fewer than up to its next.
std::size_t largest_share(int ranks) {
  const std::size_t between = keys_each / samples_of(ranks) + 1;
  return (samples_of(ranks) + static_cast<std::size_t>(ranks)) * between;
}

// Smaller ones on lower ranks: what a rank has and what it gets are not alike.
Keys draw(int rank, int ranks) {
  std::mt19937_64 random(static_cast<unsigned>(rank));
  Keys keys;
  keys.reserve(largest_share(ranks));
  for (std::size_t i = 0; i < keys_each; ++i) keys.push_back(random() >> (ranks - 1 - rank) % 8);
  return keys;
}

Keys choose_borders(quadrille::Communicator& comm, const Keys& sorted) {
  Keys samples(samples_of(comm.size()));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = sorted[sorted.size() * (i + 1) / samples.size() - 1];
  Keys all(samples.size() * static_cast<std::size_t>(comm.size()));
  comm.allgather(samples, all);
  std::sort(all.begin(), all.end());
  Keys borders;
  for (std::size_t i = samples.size(); i < all.size(); i += samples.size()) borders.push_back(all[i - 1]);
  return borders;
}

// How many of the sorted keys go to each rank.
Counts count_shares(const Keys& sorted, const Keys& borders) {
  Counts counts;
  auto begin = sorted.begin();
  for (const Key border : borders) {
    const auto end = std::upper_bound(begin, sorted.end(), border);
    counts.push_back(end - begin);
    begin = end;
  }
  counts.push_back(sorted.end() - begin);
  return counts;
}

// What the check wants to know of the keys of one rank, or of several ranks in a row.
struct Run {
  std::int64_t count = 0;
  std::uint64_t sum = 0;  // may wrap
  Key first = 0;
  Key last = 0;
  bool in_order = true;
};

// Associative, but not commutative: combined in the order of ranks.
struct Join {
  Run operator()(const Run& left, const Run& right) const {
    if (left.count == 0) return right;
    if (right.count == 0) return left;
    return {left.count + right.count, left.sum + right.sum, left.first, right.last,
            left.in_order && right.in_order && left.last <= right.first};
  }
};

Run join(quadrille::Communicator& comm, const Keys& keys) {
  Run run;
  if (!keys.empty()) {
    run = {static_cast<std::int64_t>(keys.size()), std::reduce(keys.begin(), keys.end()), keys.front(), keys.back(),
           std::is_sorted(keys.begin(), keys.end())};
  }
  comm.allreduce(std::span(&run, 1), std::span(&run, 1), Join{});
  return run;
}

std::int64_t largest(quadrille::Communicator& comm, std::int64_t one) {
  comm.allreduce(std::span(&one, 1), std::span(&one, 1), [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  return one;
}

bool sort_keys() {
  quadrille::Communicator comm(MPI_COMM_WORLD);
  Keys keys = draw(comm.rank(), comm.size());
  const Run before = join(comm, keys);

  std::sort(keys.begin(), keys.end());
  const Counts counts = count_shares(keys, choose_borders(comm, keys));
  const quadrille::ExchangeResult moved = comm.redistribute(keys, counts, {.memory = 32768});
  // A sorted run has come from each rank, as long as `moved.counts` says. std::inplace_merge would join them in fewer
  // steps, but takes a buffer for that which may be as long as what it merges; std::sort needs none.
  std::sort(keys.begin(), keys.end());

  const Run after = join(comm, keys);
  const bool right = after.in_order && after.count == before.count && after.sum == before.sum;
  const std::int64_t share = largest(comm, static_cast<std::int64_t>(keys.size() * sizeof(Key)));
  const std::int64_t peak = largest(comm, moved.peak_bytes);
  if (comm.rank() == 0) {
    std::printf("%lld keys on %d ranks: %s; %lld bytes a rank beside the keys, a second buffer would take %lld\n",
                static_cast<long long>(after.count), comm.size(), right ? "sorted" : "WRONG",
                static_cast<long long>(peak), static_cast<long long>(share));
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = false;
  try {
    right = sort_keys();
  } catch (const quadrille::Error& error) {
    // What is wrong on one rank is thrown on all; says what to reserve if a share does not fit.
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
