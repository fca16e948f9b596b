// How much memory an exchange in place takes beside the data: peak MIB [KIB_OF_MEMORY].
//
// Each rank has so many MiB and exchanges all of it, first by a bare program of MPI's own calls that has chunks of the
// same size under way, then by alltoallv with MPI_IN_PLACE, then by alltoallv_in_place, in elements of one byte. For
// each it prints how much the resident memory and the data segment have grown beside the data, at most, over all ranks.
// Exits with 1 if ours take more than the budget, what depends on the number of ranks, and MPI's own share.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <quadrille/quadrille.hpp>
#include <string>
#include <thread>
#include <vector>

#include "redistribute/redistribution.hpp"

namespace {

// Of /proc/self/status, in KiB.
std::int64_t status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word != name + ":") continue;
    std::int64_t value = 0;
    file >> value;
    return value;
  }
  return 0;
}

struct Growth {
  std::int64_t resident = 0;
  std::int64_t heap = 0;
};

// The most that memory grows while work is done, over all ranks, in KiB.
template <class Work>
Growth growth_of(Work&& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const Growth before{status("VmRSS"), status("VmData")};
  Growth most = before;
  std::atomic<bool> over = false;
  std::thread watch([&] {
    while (!over) {
      most.resident = std::max(most.resident, status("VmRSS"));
      most.heap = std::max(most.heap, status("VmData"));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  // The thread's own stack is none of the work's.
  const std::int64_t stack = status("VmData") - before.heap;
  work();
  over = true;
  watch.join();
  std::array<std::int64_t, 2> grown = {most.resident - before.resident, most.heap - before.heap - stack};
  MPI_Allreduce(MPI_IN_PLACE, grown.data(), 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return {grown[0], grown[1]};
}

class Peak {
 public:
  Peak(quadrille::Communicator& comm, std::int64_t bytes, std::int64_t memory)
      : comm_(comm), memory_(memory), data_(static_cast<std::size_t>(bytes)) {
    // Two ranks swap all but a byte; more of them share it out.
    const int ranks = comm.size();
    counts_.assign(static_cast<std::size_t>(ranks), bytes / ranks);
    if (ranks == 2) counts_ = {comm.rank() == 0 ? 1 : bytes - 1, comm.rank() == 0 ? bytes - 1 : 1};
    at_.resize(counts_.size());
    std::exclusive_scan(counts_.begin(), counts_.end(), at_.begin(), std::int64_t{0});
    // Blocks that stayed where they are would be swapped.
    elsewhere_.resize(counts_.size());
    std::exclusive_scan(counts_.rbegin(), counts_.rend(), elsewhere_.rbegin(), std::int64_t{0});
  }

  // As many chunks under way as ours have, each of 32 KiB, within one buffer and as much beside it.
  void bare() {
    constexpr int chunk = 32 << 10;
    const int in_flight = static_cast<int>(std::clamp<std::int64_t>(memory_ / chunk, 1, 16));
    std::vector<std::byte> room(static_cast<std::size_t>(in_flight) * chunk);
    std::vector<MPI_Request> requests(2 * static_cast<std::size_t>(in_flight));
    for (int step = 1; step < comm_.size(); ++step) {
      const int to = (comm_.rank() + step) % comm_.size();
      const int from = (comm_.rank() - step + comm_.size()) % comm_.size();
      const std::int64_t all = counts_[static_cast<std::size_t>(to)] / chunk;
      for (std::int64_t first = 0; first < all; first += in_flight) {
        const int now = static_cast<int>(std::min<std::int64_t>(in_flight, all - first));
        for (int i = 0; i < now; ++i) {
          MPI_Irecv(room.data() + i * std::int64_t{chunk}, chunk, MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests[2 * i]);
          const std::int64_t place = at_[static_cast<std::size_t>(to)] + (first + i) * chunk;
          MPI_Isend(data_.data() + place, chunk, MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests[2 * i + 1]);
        }
        MPI_Waitall(2 * now, requests.data(), MPI_STATUSES_IGNORE);
      }
    }
  }
  void swap() {
    const quadrille::Blocks nothing{nullptr, nullptr, MPI_DATATYPE_NULL};
    fill();
    comm_.alltoallv(MPI_IN_PLACE, nothing, data_.data(), {counts_.data(), at_.data(), MPI_BYTE}, {.memory = memory_});
    check(at_);
  }
  void move() {
    fill();
    const quadrille::ExchangeResult moved =
        comm_.alltoallv_in_place(data_, {counts_, at_}, {counts_, elsewhere_}, {.memory = memory_});
    check(elsewhere_);
    if (moved.peak_bytes > memory_) right_ = false;
  }
  bool right() const { return right_; }

 private:
  static std::byte value(int from, int to, std::int64_t i) {
    return static_cast<std::byte>(i * 7 + from * 31 + to * 57);
  }
  template <class Visit>
  void each(const std::vector<std::int64_t>& at, Visit&& visit) {
    for (int peer = 0; peer < comm_.size(); ++peer) {
      const auto block = static_cast<std::size_t>(peer);
      for (std::int64_t i = 0; i < counts_[block]; ++i) visit(peer, i, data_[static_cast<std::size_t>(at[block] + i)]);
    }
  }
  void fill() {
    each(at_, [&](int peer, std::int64_t i, std::byte& place) { place = value(comm_.rank(), peer, i); });
  }
  void check(const std::vector<std::int64_t>& at) {
    each(at,
         [&](int peer, std::int64_t i, const std::byte& place) { right_ &= place == value(peer, comm_.rank(), i); });
  }

  quadrille::Communicator& comm_;
  std::int64_t memory_;
  std::vector<std::byte> data_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> at_;
  std::vector<std::int64_t> elsewhere_;
  bool right_ = true;
};

bool measure(std::int64_t bytes, std::int64_t memory) {
  quadrille::Communicator comm(MPI_COMM_WORLD);
  comm.barrier();
  Peak peak(comm, bytes, memory);
  const Growth bare = growth_of([&] { peak.bare(); });
  const Growth swap = growth_of([&] { peak.swap(); });
  const Growth move = growth_of([&] { peak.move(); });
  // Words, counts, and what the machine keeps; agreeing takes 8 bytes for each pair, twice.
  const std::int64_t by_ranks =
      quadrille::redistribute::Redistribution::bookkeeping_bytes(comm.size()) + 64LL * comm.size() * (8 + comm.size());
  constexpr std::int64_t most_share = 32 << 10;  // KiB, of MPI's
  const std::int64_t share = std::min(std::max(bare.resident, bare.heap), most_share);
  // Pages, and what allocators round up to.
  constexpr std::int64_t slack = 1024;
  const std::int64_t allowed = memory / 1024 + by_ranks / 1024 + share + slack;
  int right = peak.right() && std::max({swap.resident, swap.heap, move.resident, move.heap}) <= allowed ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (comm.rank() == 0) {
    std::printf("%lld MiB a rank on %d ranks, budget %lld KiB, by ranks %lld KiB; grown, KiB: resident, heap\n",
                static_cast<long long>(bytes >> 20), comm.size(), static_cast<long long>(memory >> 10),
                static_cast<long long>(by_ranks >> 10));
    const auto row = [](const char* name, const Growth& grown) {
      std::printf("%-28s %8lld %8lld\n", name, static_cast<long long>(grown.resident),
                  static_cast<long long>(grown.heap));
    };
    row("MPI's messages alone", bare);
    row("alltoallv, MPI_IN_PLACE", swap);
    row("alltoallv_in_place", move);
    std::printf("%s: at most %lld allowed\n", right ? "right" : "WRONG", static_cast<long long>(allowed));
  }
  return right != 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::int64_t bytes = std::int64_t{argc > 1 ? std::atoi(argv[1]) : 64} << 20;
  const std::int64_t memory = argc > 2 ? std::int64_t{std::atoi(argv[2])} << 10 : bytes / 100;
  bool right = false;
  try {
    right = measure(bytes, memory);
  } catch (const quadrille::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
