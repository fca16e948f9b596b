#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <quadrille/collective.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/profile.hpp"

namespace quadrille::interpose {

// The name that a program gave to a communicator, of what MPI says; empty if that is MPI's own, as Open MPI's "MPI
// COMMUNICATOR 3 DUP FROM 0".
std::string_view given_name(std::string_view name);

// Calls, bytes and time by communicator, collective and size. Communicators of the same name and number of ranks are
// one kind: the rows of a grid, or what a program makes anew in every step.
class Tallies {
 public:
  static constexpr std::size_t sizes = profile::size_names.size();
  struct Count {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    std::int64_t replaced = 0;
  };
  struct Time {
    double all = 0;
    double replaced = 0;
  };
  template <class Cell>
  using ByCollectiveAndSize = std::array<std::array<Cell, sizes>, collectives>;
  struct Counts {
    std::int64_t communicators = 0;
    ByCollectiveAndSize<Count> cells = {};
  };
  using Times = ByCollectiveAndSize<Time>;
  struct Tally {
    Counts counts;
    Times times = {};

    void merge(const Tally& other);
  };
  // A communicator as this rank sees it.
  struct Known {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;
    int ranks = 0;
    bool inter = false;
    Tally tally;
  };
  using Kind = std::pair<int, std::string>;  // the number of ranks, negative so that the largest come first; the name

  // Between MPI_Init and MPI_Finalize. Not again.
  void start();
  // That of a communicator, for as long as that exists. Adding to it is for the caller to lock: lock().
  Known& of(MPI_Comm comm);
  // Of calls that failed, whose communicator may not be one.
  Known& failed() { return failed_; }
  [[nodiscard]] std::lock_guard<std::mutex> lock() { return std::lock_guard(mutex_); }

  // Collective over MPI_COMM_WORLD, once, at the end: rank 0 gets the communicators and calls of all ranks.
  void gather(profile::Profile& profile);
  // Seconds of this rank, by collective. After gather().
  std::array<double, collectives> spent() const;

 private:
  static int forget(MPI_Comm comm, int key, void* known, void* tallies);
  void close(const Known& known);

  std::mutex mutex_;
  int key_ = MPI_KEYVAL_INVALID;
  std::atomic<std::int64_t> forgotten_ = 0;                       // a handle may be used again
  std::unordered_map<const void*, std::unique_ptr<Known>> open_;  // by address: the attribute's value
  std::map<Kind, Tally> kinds_;  // of communicators that are freed, and at the end of all
  Known failed_;
};

}  // namespace quadrille::interpose
