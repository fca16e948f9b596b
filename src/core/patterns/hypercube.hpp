#pragma once

#include <optional>

#include "patterns/ring.hpp"

namespace quadrille::patterns {

// A hypercube out of any number of ranks: the largest power of two takes part; each of the `extra` remaining ranks is
// represented by its right neighbour. Neighbours stay neighbours, so rank order survives in a reduction.
class Hypercube {
 public:
  explicit Hypercube(Rank ranks) : dimensions_(floor_log2(ranks)), extra_(ranks - (Rank{1} << dimensions_)) {}

  int dimensions() const { return dimensions_; }
  Rank corners() const { return Rank{1} << dimensions_; }
  Rank extra() const { return extra_; }

  // Of a rank that does not take part: who represents it. Of one that does: whom it represents.
  std::optional<Rank> represented_by(Rank rank) const {
    return rank < 2 * extra_ && rank % 2 == 0 ? std::optional<Rank>(rank + 1) : std::nullopt;
  }
  std::optional<Rank> represents(Rank rank) const {
    return rank < 2 * extra_ && rank % 2 == 1 ? std::optional<Rank>(rank - 1) : std::nullopt;
  }

  // The neighbour of a rank that takes part, across one dimension.
  Rank neighbour(Rank rank, int dimension) const { return rank_of(corner_of(rank) ^ (Rank{1} << dimension)); }

  // Where a rank that takes part stands, and who stands there.
  Rank corner_of(Rank rank) const { return rank < 2 * extra_ ? rank / 2 : rank - extra_; }
  Rank rank_of(Rank corner) const { return corner < extra_ ? 2 * corner + 1 : corner + extra_; }

  // The first of the ranks that a corner and those behind it stand for; of the corner behind the last: all ranks.
  Rank first_of(Rank corner) const { return corner < extra_ ? 2 * corner : corner + extra_; }

 private:
  int dimensions_;
  Rank extra_;
};

}  // namespace quadrille::patterns
