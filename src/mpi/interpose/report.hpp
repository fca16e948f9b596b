#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <quadrille/detail/call.hpp>
#include <span>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "interpose/outcome.hpp"
#include "interpose/tallies.hpp"

namespace quadrille::interpose {

// On an oversubscribed node under an MPI that spins: its waits were made to yield, or ours replace them.
enum class Waits { mpis, yielding, ours };
using Counts = std::array<std::array<std::atomic<std::int64_t>, outcomes>, collectives>;

// What a program called, for people: calls, bytes and time by collective, size and communicator, and what became of
// them.
class Report {
 public:
  // At the end of MPI_Init.
  void start();
  // After a call that returned `code`. `algorithm` ran it; null: it was passed through.
  void add(const detail::Call& call, MPI_Comm comm, int code, double seconds, const Algorithm* algorithm);

  // Collective over MPI_COMM_WORLD, once. Rank 0 writes the calls of all ranks, as text to stderr if the path is "-",
  // else as JSON. `learned` counts on rank 0 alone.
  void write(const std::string& path, const Counts& counts, Waits waits, std::vector<profile::Learned> learned = {});

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point started_;
  Tallies tallies_;
  std::vector<std::int64_t> by_ = std::vector<std::int64_t>(catalogue().size());  // calls, by place in the catalogue
};

}  // namespace quadrille::interpose
