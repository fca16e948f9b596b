#pragma once

#include <optional>

#include "patterns/ring.hpp"

namespace quadrille::patterns {

// A hypercube for any number of ranks: the largest power of two takes part; each of the `extra` remaining ranks is
// represented by its right neighbour. Neighbours stay neighbours, so a reduction preserves rank order.
class Hypercube {
 public:
  explicit Hypercube(Rank ranks) : dimensions_(floor_log2(ranks)), extra_(ranks - (Rank{1} << dimensions_)) {}

  int dimensions() const { return dimensions_; }
  Rank corners() const { return Rank{1} << dimensions_; }
  Rank extra() const { return extra_; }

  // The representative of a rank that does not take part, and the rank that one represents.
  std::optional<Rank> represented_by(Rank rank) const {
    return rank < 2 * extra_ && rank % 2 == 0 ? std::optional<Rank>(rank + 1) : std::nullopt;
  }
  std::optional<Rank> represents(Rank rank) const {
    return rank < 2 * extra_ && rank % 2 == 1 ? std::optional<Rank>(rank - 1) : std::nullopt;
  }

  // The neighbour of a participating rank in one dimension.
  Rank neighbour(Rank rank, int dimension) const { return rank_of(corner_of(rank) ^ (Rank{1} << dimension)); }

  // The corner of a participating rank, and its inverse.
  Rank corner_of(Rank rank) const { return rank < 2 * extra_ ? rank / 2 : rank - extra_; }
  Rank rank_of(Rank corner) const { return corner < extra_ ? 2 * corner + 1 : corner + extra_; }

  // The first rank that a corner represents; for one past the last corner, the number of ranks.
  Rank first_of(Rank corner) const { return corner < extra_ ? 2 * corner : corner + extra_; }

 private:
  int dimensions_;
  Rank extra_;
};

}  // namespace quadrille::patterns
