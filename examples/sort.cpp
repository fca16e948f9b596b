// A distributed sample sort in bounded memory: each rank sorts its keys, samples of all ranks determine the splitters,
// the keys are redistributed within their vector, and each rank sorts what it received.

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
constexpr std::size_t oversampling = 16;  // samples per rank and share

std::size_t samples_of(int ranks) {
  return oversampling * static_cast<std::size_t>(ranks);
}

// The maximum share, if keys are distinct. It has as many samples as one rank takes; each represents the keys up to it,
// and each rank may add fewer keys than one sample interval after its last sample in the share.
std::size_t largest_share(int ranks) {
  const std::size_t between = keys_each / samples_of(ranks) + 1;
  return (samples_of(ranks) + static_cast<std::size_t>(ranks)) * between;
}

// Smaller keys on lower ranks, so that send and receive counts differ.
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

// The number of sorted keys for each rank.
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

// A summary of the keys of one rank or of consecutive ranks, for the check.
struct Run {
  std::int64_t count = 0;
  std::uint64_t sum = 0;  // may wrap
  Key first = 0;
  Key last = 0;
  bool in_order = true;
};

// Associative, but not commutative: combined in rank order.
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
  // The received keys are sorted runs of lengths `moved.counts`. std::inplace_merge would merge them in fewer steps,
  // but may allocate a buffer as large as the keys; std::sort needs none.
  std::sort(keys.begin(), keys.end());

  const Run after = join(comm, keys);
  const bool right = after.in_order && after.count == before.count && after.sum == before.sum;
  const std::int64_t share = largest(comm, static_cast<std::int64_t>(keys.size() * sizeof(Key)));
  const std::int64_t peak = largest(comm, moved.peak_bytes);
  if (comm.rank() == 0) {
    std::printf("%lld keys on %d ranks: %s; %lld bytes per rank beside the keys, a second buffer would take %lld\n",
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
    // An error on one rank is thrown on all, with the capacity to reserve if a share does not fit.
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
