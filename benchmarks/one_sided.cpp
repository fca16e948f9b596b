// Broadcasts through windows beside those by messages of the same shape and the MPI's own.
//
//   one_sided times [BYTES...]     how long a broadcast takes until the last rank has its data
//   one_sided late [MILLISECONDS]  how long the root of one waits if one rank computes for so long: a leaf of the tree,
//                                  or an inner rank. Blocking, that rank calls late; non-blocking, it has called
//                                  before.
//
// Medians over rounds, in which every variant runs once. Exits with 1 if a byte is wrong.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <quadrille/quadrille.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using quadrille::Communicator;
using quadrille::Window;

constexpr int rounds = 21;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

double slowest(Communicator& comm, double own) {
  const std::vector<double> mine{own};
  std::vector<double> most(1);
  comm.allreduce(mine, most, [](double a, double b) { return std::max(a, b); });
  return most.front();
}

// As long as a program that does not call MPI; others need the core.
void compute(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

struct Variant {
  std::string name;
  std::function<void(std::int64_t bytes)> run;
};

std::vector<Variant> variants(Window& window) {
  std::vector<Variant> all;
  all.push_back({"MPI_Bcast", [&](std::int64_t bytes) {
                   MPI_Bcast(window.data(), static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
                 }});
  for (const char* name : {"linear", "one_sided_linear", "binary", "one_sided_binary", "binomial", "one_sided_binomial",
                           "pipelined_chain", "one_sided_chain"}) {
    all.push_back({name, [&window, name](std::int64_t bytes) { window.bcast(0, 0, bytes, {.algorithm = name}); }});
  }
  all.push_back({"default", [&](std::int64_t bytes) { window.bcast(0, 0, bytes); }});
  return all;
}

bool times(Communicator& comm, const std::vector<std::int64_t>& sizes) {
  bool right = true;
  for (const std::int64_t bytes : sizes) {
    Window window = Window::allocate(comm, bytes);
    const std::vector<Variant> all = variants(window);
    std::map<std::string, std::vector<double>> seconds;
    for (int round = -1; round < rounds; ++round) {
      for (const Variant& one : all) {
        std::memset(window.data(), comm.rank() == 0 ? round : ~round, static_cast<std::size_t>(bytes));
        comm.barrier();
        const auto begin = Clock::now();
        one.run(bytes);
        const double took = slowest(comm, seconds_since(begin));
        if (round >= 0) seconds[one.name].push_back(took);
        for (std::int64_t i = 0; i < bytes; ++i) {
          right &= window.data()[i] == static_cast<std::byte>(static_cast<unsigned char>(round));
        }
      }
    }
    for (const Variant& one : all) {
      if (comm.rank() != 0) continue;
      std::printf("%10lld bytes  %-20s %10.1f us\n", static_cast<long long>(bytes), one.name.c_str(),
                  1e6 * median(seconds[one.name]));
    }
  }
  return right;
}

// The root's time while rank `late` computes.
double waits(Communicator& comm, int late, double seconds, const std::function<void()>& call) {
  std::vector<double> waited;
  for (int round = 0; round < 5; ++round) {
    comm.barrier();
    if (comm.rank() == late) compute(seconds);
    const auto begin = Clock::now();
    call();
    waited.push_back(seconds_since(begin));
  }
  return median(waited);
}

void late(Communicator& comm, double seconds) {
  for (const std::int64_t bytes : {16LL, 65536LL, 4194304LL}) {
    Window window = Window::allocate(comm, bytes);
    // In a binomial tree from rank 0 the last rank is a leaf, and half of the ranks down there is an inner one.
    for (const int rank : {comm.size() - 1, comm.size() / 2}) {
      const double mpi = waits(comm, rank, seconds,
                               [&] { MPI_Bcast(window.data(), static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD); });
      const double blocking = waits(comm, rank, seconds, [&] { window.bcast(0, 0, bytes); });
      const double ready = waits(comm, -1, seconds, [&] {
        auto pending = window.ibcast(0, 0, bytes);
        if (comm.rank() == rank) compute(seconds);
        pending.wait();
      });
      if (comm.rank() != 0) continue;
      std::printf("%10lld bytes, rank %d late: the root waits %8.2f ms in MPI_Bcast, %8.2f blocking, %8.2f ready\n",
                  static_cast<long long>(bytes), rank, 1e3 * mpi, 1e3 * blocking, 1e3 * ready);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "times";
  bool right = true;
  {
    Communicator comm(MPI_COMM_WORLD);
    if (what == "late") {
      late(comm, (argc > 2 ? std::atof(argv[2]) : 100) / 1e3);
    } else {
      std::vector<std::int64_t> sizes;
      for (int i = 2; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
      if (sizes.empty()) sizes = {16, 65536, 524288, 4194304};
      right = times(comm, sizes);
    }
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
