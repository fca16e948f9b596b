#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "engine/settings.hpp"
#include "engine/task.hpp"
#include "run/order.hpp"

namespace quadrille::engine {

// "collective number 3, allreduce (ring)"
std::string number_and_name(std::int64_t number, const Task& task);

// Says what the collectives of a communicator wait for.
class Watchdog {
 public:
  explicit Watchdog(const Settings& settings) : settings_(settings) {}

  void set_place(Rank rank, Rank ranks) {
    rank_ = rank;
    ranks_ = ranks;
  }
  // Sequence numbers before this one were the context's own: people count from here.
  void count_from(std::int64_t sequence) { first_ = sequence; }
  std::int64_t number(const Ordered& task) const { return task.sequence() - first_; }

  // Every collective in flight.
  std::string in_flight(const Order& order) const;
  // Those that have not advanced for as long as the settings say, each mentioned once: who has not called yet, and what
  // is awaited.
  std::string overdue(const Order& order, std::chrono::steady_clock::time_point now) const;

 private:
  std::string described(const Task& task) const;
  std::string missing(const Task& task, double seconds) const;

  const Settings& settings_;
  Rank rank_ = 0;
  Rank ranks_ = 1;
  std::int64_t first_ = 0;
};

}  // namespace quadrille::engine
