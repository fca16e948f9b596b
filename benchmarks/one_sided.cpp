// Broadcasts through windows beside those by messages of the same shape and the MPI's own. Rank 0 prints a line of JSON
// for each result; benchmarks/one_sided.py makes tables of them.
//
//   one_sided times BYTES...              how long a broadcast takes until the last rank has its data
//   one_sided late MILLISECONDS BYTES...  how long the root of one waits while one rank computes: a leaf of the
//   binomial
//                                         tree, or an inner rank. That rank calls late; or, "ready", it has called
//                                         ibcast before.
//   one_sided stress COUNT [SECONDS]      so many broadcasts of 1 to 64 bytes, the root of each the rank after the
//   last,
//                                         with nothing between them: no barrier. Ends earlier after so many seconds.
//
// Every byte is checked: the exit status is 1 if one is wrong.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <quadrille/quadrille.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using quadrille::Communicator;
using quadrille::Window;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Of sorted values.
double quantile(const std::vector<double>& values, double share) {
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

double most(Communicator& comm, double own) {
  const std::vector<double> mine{own};
  std::vector<double> all(1);
  comm.allreduce(mine, all, [](double a, double b) { return std::max(a, b); });
  return all.front();
}

// As long as a program that does not call MPI; others need the core.
void compute(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

void broadcast_by_mpi(const Window& window, std::int64_t bytes) {
  MPI_Bcast(window.data(), static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
}

struct Variant {
  std::string name;
  std::function<void(std::int64_t bytes)> run;
};

// Each shape by messages and through windows.
std::vector<Variant> variants(Window& window) {
  std::vector<Variant> all;
  all.push_back({"MPI_Bcast", [&](std::int64_t bytes) { broadcast_by_mpi(window, bytes); }});
  for (const char* name : {"linear", "one_sided_linear", "binary", "one_sided_binary", "binomial", "one_sided_binomial",
                           "pipelined_chain", "one_sided_chain", "hierarchical", "one_sided_hierarchical"}) {
    all.push_back({name, [&window, name](std::int64_t bytes) { window.bcast(0, 0, bytes, {.algorithm = name}); }});
  }
  all.push_back({"default", [&](std::int64_t bytes) { window.bcast(0, 0, bytes); }});
  return all;
}

// Of one size, all variants in turn.
class Cell {
 public:
  Cell(Communicator& comm, std::int64_t bytes)
      : comm_(comm), bytes_(bytes), window_(Window::allocate(comm, bytes)), variants_(variants(window_)) {}

  bool measure() {
    for (const Variant& one : variants_) run(one);  // schedules are built, pages are touched
    double once = 0;
    for (const Variant& one : variants_) once += run(one);
    // As many rounds as fit into some time, which is the same on every rank.
    constexpr double wanted = 20;
    const int rounds = std::clamp(static_cast<int>(wanted / once), 3, 101);
    for (int round = 0; round < rounds; ++round) {
      // Each is as often the first of a round as the others.
      for (std::size_t i = 0; i < variants_.size(); ++i) {
        const Variant& one = variants_[(i + static_cast<std::size_t>(round)) % variants_.size()];
        seconds_[one.name].push_back(run(one));
      }
    }
    if (comm_.rank() == 0) print();
    return wrong_ == 0;
  }

 private:
  // How long it takes on the slowest rank.
  double run(const Variant& one) {
    const auto value = static_cast<unsigned char>(++runs_);
    std::memset(window_.data(), comm_.rank() == 0 ? value : ~value, static_cast<std::size_t>(bytes_));
    comm_.barrier();
    const auto begin = Clock::now();
    one.run(bytes_);
    const double took = most(comm_, seconds_since(begin));
    wrong_ += bytes_ - std::count(window_.data(), window_.data() + bytes_, static_cast<std::byte>(value));
    return took;
  }

  void print() {
    for (const Variant& one : variants_) {
      std::vector<double>& values = seconds_[one.name];
      std::sort(values.begin(), values.end());
      std::printf(R"({"bytes": %lld, "variant": "%s", "seconds": %.9f, "low": %.9f, "high": %.9f, "rounds": %zu, )"
                  R"("transport": "%s"})"
                  "\n",
                  static_cast<long long>(bytes_), one.name.c_str(), quantile(values, 0.5), quantile(values, 0.25),
                  quantile(values, 0.75), values.size(), window_.transport().c_str());
    }
    std::fflush(stdout);
  }

  Communicator& comm_;
  std::int64_t bytes_;
  Window window_;
  std::vector<Variant> variants_;
  std::map<std::string, std::vector<double>> seconds_;
  std::int64_t runs_ = 0;
  std::int64_t wrong_ = 0;
};

// What the root waits while rank `late` computes, in the middle of some rounds.
class Lateness {
 public:
  Lateness(Communicator& comm, std::int64_t bytes, int late, double seconds)
      : comm_(comm), bytes_(bytes), late_(late), seconds_(seconds), window_(Window::allocate(comm, bytes)) {}

  bool measure(const char* place) {
    const quadrille::Options shape{.algorithm = "one_sided_binomial"};
    const double mpi = calling_late([&] { broadcast_by_mpi(window_, bytes_); });
    const double messages = calling_late([&] { window_.bcast(0, 0, bytes_, {.algorithm = "binomial"}); });
    const double usual = calling_late([&] { window_.bcast(0, 0, bytes_); });
    const double blocking = calling_late([&] { window_.bcast(0, 0, bytes_, shape); });
    const double staged = calling_late([&] { window_.bcast(0, 0, bytes_, {.algorithm = "one_sided_staged"}); });
    const double ready = waited([&] {
      auto pending = window_.ibcast(0, 0, bytes_, shape);
      if (comm_.rank() == late_) compute(seconds_);
      pending.wait();
    });
    if (comm_.rank() == 0) {
      std::printf(R"({"bytes": %lld, "late": "%s", "rank": %d, "seconds": %.3f, "MPI_Bcast": %.9f, "binomial": %.9f, )"
                  R"("default": %.9f, "one_sided_binomial": %.9f, "one_sided_staged": %.9f, "ready": %.9f, )"
                  R"("transport": "%s"})"
                  "\n",
                  static_cast<long long>(bytes_), place, late_, seconds_, mpi, messages, usual, blocking, staged, ready,
                  window_.transport().c_str());
      std::fflush(stdout);
    }
    return wrong_ == 0;
  }

 private:
  double calling_late(const std::function<void()>& call) {
    return waited([&] {
      if (comm_.rank() == late_) compute(seconds_);
      call();
    });
  }

  // On this rank.
  double waited(const std::function<void()>& work) {
    std::vector<double> all;
    for (int round = 0; round < 5; ++round) {
      std::memset(window_.data(), comm_.rank() == 0 ? round : ~round, static_cast<std::size_t>(bytes_));
      comm_.barrier();
      const auto begin = Clock::now();
      work();
      all.push_back(seconds_since(begin));
      wrong_ += bytes_ - std::count(window_.data(), window_.data() + bytes_, static_cast<std::byte>(round));
    }
    std::sort(all.begin(), all.end());
    return quantile(all, 0.5);
  }

  Communicator& comm_;
  std::int64_t bytes_;
  int late_;
  double seconds_;
  Window window_;
  std::int64_t wrong_ = 0;
};

bool measure_late(Communicator& comm, double seconds, const std::vector<std::int64_t>& sizes) {
  // In a binomial tree from rank 0 the last rank is a leaf, and so are all odd ones; of the others those pass data on
  // that have a rank behind them.
  const int inner = comm.size() / 2 / 2 * 2;
  bool right = true;
  for (const std::int64_t bytes : sizes) {
    right &= Lateness(comm, bytes, comm.size() - 1, seconds).measure("leaf");
    if (inner > 0 && inner + 1 < comm.size()) right &= Lateness(comm, bytes, inner, seconds).measure("inner");
  }
  return right;
}

bool stress(Communicator& comm, std::int64_t count, double limit) {
  constexpr std::int64_t longest = 64;
  constexpr std::int64_t before = 5;                  // untouched bytes, and as many behind
  constexpr std::int64_t most_between_looks = 10000;  // at the clock, for which ranks have to meet
  constexpr std::byte untouched{0xA5};
  Window window = Window::allocate(comm, longest + 2 * before);
  std::byte* const memory = window.data();
  const auto byte_of = [](std::int64_t call, std::int64_t at) {
    return static_cast<std::byte>((call * 31 + (call >> 8) * 7 + at * 13) & 0xFF);
  };
  std::int64_t wrong = 0;
  std::int64_t calls = 0;
  std::int64_t next_look = 0;
  const auto begin = Clock::now();
  for (; calls < count; ++calls) {
    if (calls == next_look) {
      if (most(comm, seconds_since(begin)) > limit) break;
      next_look += std::clamp<std::int64_t>(calls / 4, 1, most_between_looks);
    }
    const auto root = static_cast<int>(calls % comm.size());
    const std::int64_t bytes = 1 + calls % longest;
    std::fill_n(memory, window.size(), untouched);
    for (std::int64_t i = 0; comm.rank() == root && i < bytes; ++i) memory[before + i] = byte_of(calls, i);
    window.bcast(root, before, bytes,
                 {.algorithm = "one_sided_binomial"});  // by itself it goes through shared memory on a node
    for (std::int64_t i = 0; i < window.size(); ++i) {
      const bool inside = i >= before && i < before + bytes;
      wrong += memory[i] != (inside ? byte_of(calls, i - before) : untouched) ? 1 : 0;
    }
  }
  const double seconds = most(comm, seconds_since(begin));
  const double all_wrong = most(comm, static_cast<double>(wrong));
  if (comm.rank() == 0) {
    std::printf(R"({"broadcasts": %lld, "ranks": %d, "wrong": %.0f, "seconds": %.3f, "transport": "%s"})"
                "\n",
                static_cast<long long>(calls), comm.size(), all_wrong, seconds, window.transport().c_str());
  }
  return all_wrong == 0;
}

int usage() {
  std::fprintf(stderr, "one_sided times BYTES... | late MILLISECONDS BYTES... | stress COUNT [SECONDS]\n");
  return 2;
}

int measure(const std::vector<std::string>& words) {
  const auto sizes = [&](std::size_t from) {
    std::vector<std::int64_t> all;
    for (std::size_t i = from; i < words.size(); ++i) all.push_back(std::atoll(words[i].c_str()));
    return all;
  };
  Communicator comm(MPI_COMM_WORLD);
  if (words.size() < 2) return usage();
  bool right = true;
  if (words[0] == "times") {
    for (const std::int64_t bytes : sizes(1)) right &= Cell(comm, bytes).measure();
  } else if (words[0] == "late") {
    right = measure_late(comm, std::atof(words[1].c_str()) / 1e3, sizes(2));
  } else if (words[0] == "stress") {
    const double limit = words.size() > 2 ? std::atof(words[2].c_str()) : std::numeric_limits<double>::infinity();
    right = stress(comm, std::atoll(words[1].c_str()), limit);
  } else {
    return usage();
  }
  return most(comm, right ? 0 : 1) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = measure({argv + 1, argv + argc});
  MPI_Finalize();
  return status;
}
