#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <quadrille/detail/call.hpp>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "interpose/outcome.hpp"

namespace quadrille::interpose {

// Bytes that this rank puts into the call, or gets out of it where it puts nothing in.
std::int64_t bytes_of(const detail::Call& call, MPI_Comm comm);

// On an oversubscribed node under an MPI that spins: its waits were made to yield, or ours replace them.
enum class Waits { mpis, yielding, ours };
using Counts = std::array<std::array<std::atomic<std::int64_t>, outcomes>, collectives>;
// What a program called, for people: calls, bytes and time by collective and size, and what became of them.
class Report {
 public:
  // At the end of MPI_Init.
  void start() { started_ = Clock::now(); }
  // `algorithm` ran it; null: it was passed through.
  void add(Collective collective, std::int64_t bytes, double seconds, const Algorithm* algorithm);

  // Collective over MPI_COMM_WORLD. Rank 0 writes the calls of all ranks, as text to stderr if the path is "-", else as
  // JSON. Of a size, the time is that of the slowest rank.
  void write(const std::string& path, const Counts& counts, Waits waits);

 private:
  static constexpr std::size_t sizes = 7;
  struct Cell {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
  };
  struct Table {
    std::array<std::array<Cell, sizes>, collectives> called = {};
    std::array<std::array<std::int64_t, sizes>, collectives> replaced = {};
    std::array<std::array<std::int64_t, outcomes>, collectives> became = {};
  };
  using Clock = std::chrono::steady_clock;
  using Seconds = std::array<std::array<double, sizes>, collectives>;
  using Spent = std::array<double, collectives>;  // seconds in a collective's calls of all sizes
  struct Whole {
    int ranks = 1;
    Waits waits = Waits::mpis;
    std::int64_t peak_bytes = 0;
    Table table;
    Seconds seconds = {};
    Spent mean = {};     // over ranks
    Spent largest = {};  // of any rank
    double wall = 0;     // seconds from MPI_Init to MPI_Finalize, of the slowest rank
    std::vector<std::int64_t> by;

    double in_collectives() const { return std::accumulate(mean.begin(), mean.end(), 0.0); }
  };

  static std::size_t size_class(std::int64_t bytes);
  // visit(collective, size, cell, replaced, seconds) for what was called, visit_reason(collective, why, calls) for what
  // was passed through; collective by collective.
  template <class Visit, class VisitReason>
  static void for_each(const Whole& whole, const Visit& visit, const VisitReason& visit_reason);
  // visit(algorithm, calls) for those that ran calls, collective by collective.
  template <class Visit>
  static void for_each_algorithm(const Whole& whole, const Visit& visit);
  static std::string as_text(const Whole& whole);
  static std::string as_json(const Whole& whole);

  Clock::time_point started_;
  std::mutex mutex_;
  Table table_;
  Seconds seconds_ = {};
  std::vector<std::int64_t> by_ = std::vector<std::int64_t>(catalogue().size());  // calls, by place in the catalogue
};

}  // namespace quadrille::interpose
