#pragma once

#include "schedule/data.hpp"

namespace quadrille::patterns {

// The partners of Swing on 2^steps ranks of a ring: steps swing back and forth, so that a partner is two thirds as
// far away as a hypercube's.
class Swing {
 public:
  explicit Swing(int steps) : steps_(steps) {}

  int steps() const { return steps_; }

  // The partner in a step, whose partner is this rank: even ranks go one way, odd ranks the other.
  Rank peer(Rank rank, int step) const {
    const Rank ranks = Rank{1} << steps_;
    const Rank moved = rank % 2 == 0 ? rank + distance(step) : rank - distance(step);
    return (moved % ranks + ranks) % ranks;
  }

  // 1, -1, 3, -5, 11, ...: the sum of (-2)^i up to the step.
  static Rank distance(int step) {
    Rank sum = 0;
    for (int i = 0; i <= step; ++i) sum = 1 - 2 * sum;
    return sum;
  }

  // Of two partners in a step of a reduce-scatter one keeps the front half of the range that both have, the other the
  // back half. All ranks whose ranges are the same after this step say the same.
  bool keeps_front(Rank rank, int step) const {
    if (step + 1 == steps_) return rank % 2 == 0;
    const Rank even = rank % 2 == 0 ? rank : peer(rank, step + 1);
    return (even >> (step + 1)) % 2 == 0;
  }

 private:
  int steps_;
};

}  // namespace quadrille::patterns
