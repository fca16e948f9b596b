// is: integer keys sorted by buckets, several times: an allreduce of the sizes of buckets, an alltoall of counts and an
// alltoallv of the keys. After NPB's is.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

#include "kernel.hpp"

namespace {

constexpr int buckets = 1024;
constexpr int bits = 20;  // of a key
constexpr int bucket_of(std::int32_t key) {
  return key >> (bits - 10);
}

// More small and middle keys than large ones, so that ranks get different ranges: the mean of four numbers.
std::vector<std::int32_t> random_keys(int count, int rank, int time) {
  std::mt19937 generator(static_cast<unsigned>(1000 * time + rank));
  std::vector<std::int32_t> keys(static_cast<std::size_t>(count));
  for (std::int32_t& key : keys) {
    std::int64_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += generator() >> (32 - bits);
    key = static_cast<std::int32_t>(sum / 4);
  }
  return keys;
}

// The rank of each bucket: whole buckets, so that every rank gets about as many keys.
std::vector<int> owners(const std::vector<std::int32_t>& sizes, int ranks) {
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::vector<int> owner(buckets);
  std::int64_t before = 0;
  for (std::size_t b = 0; b < owner.size(); ++b) {
    owner[b] = static_cast<int>(std::min<std::int64_t>(ranks - 1, before * ranks / std::max<std::int64_t>(1, all)));
    before += sizes[b];
  }
  return owner;
}

std::vector<std::int32_t> sorted(const std::vector<std::int32_t>& keys, int ranks) {
  std::vector<std::int32_t> own(buckets);
  std::vector<std::int32_t> sizes(buckets);
  for (const std::int32_t key : keys) ++own[bucket_of(key)];
  MPI_Allreduce(own.data(), sizes.data(), buckets, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
  const std::vector<int> owner = owners(sizes, ranks);
  std::vector<int> out(ranks), in(ranks), out_at(ranks + 1), in_at(ranks + 1);
  for (int b = 0; b < buckets; ++b) out[owner[b]] += own[b];
  MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::partial_sum(out.begin(), out.end(), out_at.begin() + 1);
  std::partial_sum(in.begin(), in.end(), in_at.begin() + 1);
  std::vector<std::int32_t> sent(keys.size());
  std::vector<int> next(out_at.begin(), out_at.end() - 1);
  for (const std::int32_t key : keys) sent[next[owner[bucket_of(key)]]++] = key;
  std::vector<std::int32_t> received(in_at.back());
  MPI_Alltoallv(sent.data(), out.data(), out_at.data(), MPI_INT32_T, received.data(), in.data(), in_at.data(),
                MPI_INT32_T, MPI_COMM_WORLD);
  std::sort(received.begin(), received.end());
  return received;
}

// No key is lost, and none is larger than one on a later rank.
bool is_right(const std::vector<std::int32_t>& before, const std::vector<std::int32_t>& after, const Kernel& kernel) {
  const auto total = [](const std::vector<std::int32_t>& keys) {
    return static_cast<double>(std::accumulate(keys.begin(), keys.end(), std::int64_t{0}));
  };
  const bool kept = sum_of_all(total(before) - total(after)) == 0 &&
                    sum_of_all(static_cast<double>(before.size()) - static_cast<double>(after.size())) == 0;
  std::int32_t highest = after.empty() ? -1 : after.back();
  std::int32_t below = -1;
  MPI_Exscan(&highest, &below, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
  if (kernel.rank == 0) below = -1;
  return kept && std::is_sorted(after.begin(), after.end()) && (after.empty() || below <= after.front());
}

}  // namespace

int main(int argc, char** argv) {
  Kernel kernel("is", argc, argv);
  const int keys = kernel.argument(0, 1 << 22);
  const int times = kernel.argument(1, 10);
  std::vector<std::vector<std::int32_t>> before;
  std::vector<std::vector<std::int32_t>> after;
  for (int time = 0; time < times; ++time) before.push_back(random_keys(keys / kernel.ranks, kernel.rank, time));
  kernel.start();
  for (const auto& one : before) after.push_back(sorted(one, kernel.ranks));
  kernel.stop();
  bool right = true;
  for (std::size_t i = 0; i < before.size(); ++i) right = is_right(before[i], after[i], kernel) && right;
  return kernel.end(std::to_string(keys) + " keys, " + std::to_string(times) + " times", right);
}
