#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "verify/execution.hpp"

namespace quadrille::test {

// What takes time in a run: a message, or what is put, got or deposited instead, each of its units, and each unit that
// is reduced. All else takes none, but for notices where nothing else is sent.
struct Times {
  double message = 0;
  double unit = 0;
  double reduced = 0;
};

// The time of a run in which each rank sends one message at a time, receives one at a time, and reduces one range at a
// time. What is put or got keeps the rank busy that does it. The run must have kept its data.
class CriticalPath {
 public:
  CriticalPath(const verify::Execution& run, const Times& times);

  double length();

 private:
  // An instance of an operation.
  struct Done {
    double posted = 0;
    double completed = -1;
    const verify::Matched* message = nullptr;
  };
  // Until when a rank is busy.
  struct Busy {
    double sending = 0;
    double receiving = 0;
    double reducing = 0;
  };

  Done& at(Rank rank, std::int32_t instance) {
    return instances_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(instance)];
  }
  Busy& busy(Rank rank) { return busy_[static_cast<std::size_t>(rank)]; }
  const verify::Unrolled& unrolled(Rank rank) const { return run_.ranks[static_cast<std::size_t>(rank)]; }
  std::int64_t units(Rank rank, std::int32_t instance) const;
  std::int64_t value(Rank rank, std::int32_t instance) const;
  void post(Rank rank, std::int32_t instance);
  void complete(Rank rank, std::int32_t instance);
  void deliver(const verify::Matched& message);
  // The peer takes no part in it.
  void complete_one_sided(Rank rank, std::int32_t instance);
  double time_of(std::int64_t units) const { return times_.message + times_.unit * static_cast<double>(units); }
  // When a counter has reached a value that it has been set to.
  double reached(Rank rank, std::int32_t instance) const;

  using Counter = std::tuple<Board, Rank, std::int32_t>;
  struct Setting {
    std::int64_t value;
    double at;
  };

  const verify::Execution& run_;
  Times times_;
  std::vector<std::vector<Done>> instances_;  // by rank
  std::vector<Busy> busy_;                    // by rank
  std::map<Counter, std::vector<Setting>> counters_;
  bool only_notifies_;
};

}  // namespace quadrille::test
