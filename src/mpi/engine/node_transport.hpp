#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <quadrille/error.hpp>
#include <vector>

#include "layout/layout.hpp"
#include "run/memory.hpp"
#include "run/runner.hpp"
#include "schedule/group.hpp"
#include "schedule/schedule.hpp"
#include "shared_memory/lanes.hpp"

namespace quadrille::engine {

// The numbers of a node's ranks on it, in the order of ranks.
class Seats {
 public:
  Seats() = default;
  explicit Seats(const Group& node) : first_(node[0]) {
    const bool consecutive = node[node.size() - 1] - first_ + 1 == node.size();
    for (Rank i = 0; i < node.size() && !consecutive; ++i) ranks_.push_back(node[i]);
  }
  std::int32_t operator[](Rank rank) const {
    if (ranks_.empty()) return rank - first_;
    return static_cast<std::int32_t>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
  }

 private:
  Rank first_ = 0;
  std::vector<Rank> ranks_;  // none: they are consecutive
};

// The memory of a node, as the collectives of one communicator use it; no lanes: there is none.
struct NodeGround {
  shared::Lanes* lanes = nullptr;
  const Seats* seats = nullptr;
};

// Where counters can't count so many pieces.
Error too_long_for_shared_memory();

// Slots and counters of one run in the memory of the node. Not thread-safe.
class NodeTransport {
 public:
  explicit NodeTransport(const NodeGround& ground) : ground_(ground) {}

  // What slots hold elements of, and how many times as many; see Binding::scale.
  void lay_out(const Schedule& schedule, const Layout& element, std::int64_t scale);
  std::int64_t scale() const { return scale_; }
  // The run has the lane of that number; see Lanes.
  void start(std::int64_t run) { run_ = run; }

  // A piece of a slot. The schedule and the layout are those that were laid out.
  Placed placed(const Schedule& schedule, const Layout& element, const Piece& piece) const;
  void publish(std::int32_t counter, std::int64_t value) const { ground_.lanes->publish(run_, counter, value); }
  bool reached(Rank owner, std::int32_t counter, std::int64_t value) const {
    return ground_.lanes->reached(run_, seat(owner), counter, value);
  }
  // Sleeps until the counter is set, but not for longer than so long.
  void sleep(const Runner::Awaited& awaited, std::chrono::nanoseconds most) const {
    ground_.lanes->sleep(run_, seat(awaited.owner), awaited.counter, awaited.value, most);
  }

 private:
  std::int32_t seat(Rank rank) const { return (*ground_.seats)[rank]; }

  NodeGround ground_;
  std::int64_t run_ = 0;
  std::int64_t scale_ = 1;
  std::vector<std::int64_t> slot_offsets_;  // and behind them what they take
};

}  // namespace quadrille::engine
