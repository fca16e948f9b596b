// Sorts keys across ranks, batch after batch, by sampling: rank 0 names the borders between the ranks' shares, each key
// goes to the rank whose share it falls into, and each rank sorts what it got.

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

using Key = std::uint32_t;
using Keys = std::vector<Key>;
using Counts = std::vector<std::int64_t>;

Keys draw(int rank, int batch) {
  std::mt19937 random(static_cast<unsigned>(1000 * batch + rank));
  std::geometric_distribution<Key> few_large_ones(1e-6);
  Keys keys(static_cast<std::size_t>(20000 + 5000 * rank));
  std::generate(keys.begin(), keys.end(), [&] { return few_large_ones(random); });
  return keys;
}

// Every rank draws its keys alike, so those of one are a fair sample of all.
void choose_borders(const Keys& sorted, Keys& borders) {
  const std::size_t shares = borders.size() + 1;
  for (std::size_t i = 0; i < borders.size(); ++i) borders[i] = sorted[sorted.size() * (i + 1) / shares];
}

// How many of the sorted keys go to each rank.
Counts count_shares(const Keys& sorted, const Keys& borders) {
  Counts counts;
  auto begin = sorted.begin();
  for (Key border : borders) {
    const auto end = std::upper_bound(begin, sorted.end(), border);
    counts.push_back(end - begin);
    begin = end;
  }
  counts.push_back(sorted.end() - begin);
  return counts;
}

Keys redistribute(quadrille::Communicator& comm, const Keys& sorted, const Counts& send_counts) {
  // What a rank receives, only the others know. With one element for each rank, an alltoallv is an alltoall.
  const Counts ones(send_counts.size(), 1);
  Counts receive_counts(send_counts.size());
  comm.alltoallv(send_counts, ones, receive_counts, ones);
  Keys received(static_cast<std::size_t>(std::reduce(receive_counts.begin(), receive_counts.end())));
  comm.alltoallv(sorted, send_counts, received, receive_counts);
  return received;
}

// What the check wants to know of the keys of one rank, or of several ranks in a row.
struct Run {
  std::int64_t count = 0;
  std::uint64_t sum = 0;
  Key first = 0;
  Key last = 0;
  bool in_order = true;
};

// Associative, but not commutative. Quadrille expects no more of a function that it does not know, and combines in the
// order of ranks.
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
    run = {static_cast<std::int64_t>(keys.size()), std::accumulate(keys.begin(), keys.end(), std::uint64_t{0}),
           keys.front(), keys.back(), std::is_sorted(keys.begin(), keys.end())};
  }
  comm.allreduce(std::span(&run, 1), std::span(&run, 1), Join{});
  return run;
}

bool sort_batches(int batches) {
  quadrille::Communicator comm(MPI_COMM_WORLD);
  Keys borders(static_cast<std::size_t>(comm.size() - 1));
  // The same broadcast for each batch, from the same memory: it is set up once. `borders` must stay where it is.
  quadrille::Persistent announce = comm.bcast_init(borders, 0);
  bool right = true;
  for (int batch = 0; batch < batches; ++batch) {
    Keys keys = draw(comm.rank(), batch);
    std::sort(keys.begin(), keys.end());
    if (comm.rank() == 0) choose_borders(keys, borders);
    announce.start();
    const Run before = join(comm, keys);  // needs no borders yet
    announce.wait();

    keys = redistribute(comm, keys, count_shares(keys, borders));
    std::sort(keys.begin(), keys.end());

    const Run after = join(comm, keys);
    const bool sorted = after.in_order && after.count == before.count && after.sum == before.sum;
    right = right && sorted;
    if (comm.rank() == 0) {
      std::printf("batch %d: %lld keys, %zu of them on rank 0: %s\n", batch, static_cast<long long>(after.count),
                  keys.size(), sorted ? "sorted" : "WRONG");
    }
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = false;
  try {
    right = sort_batches(5);
  } catch (const quadrille::Error& error) {
    // Says what to change. A rank that gives up alone takes the others along.
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
