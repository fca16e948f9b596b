#pragma once

#include <optional>

#include "patterns/ring.hpp"

namespace quadrille::patterns {

// A hypercube for any number of ranks: the largest power of two takes part; each of the `extra` remaining ranks is
// represented by one of those. With pairs of neighbours, neighbours stay neighbours, so a reduction preserves rank
// order.
class Hypercube {
 public:
  // Those that do not take part: the lower or the higher rank of each of the first pairs, represented by the other one,
  // or the last ranks, represented by the first ones.
  enum class Extra : std::uint8_t { lower, higher, last };

  explicit Hypercube(Rank ranks, Extra which = Extra::lower)
      : dimensions_(floor_log2(ranks)), extra_(ranks - (Rank{1} << dimensions_)), which_(which) {}

  int dimensions() const { return dimensions_; }
  Rank corners() const { return Rank{1} << dimensions_; }
  Rank extra() const { return extra_; }

  // The representative of a rank that does not take part, and the rank that one represents.
  std::optional<Rank> represented_by(Rank rank) const {
    if (which_ == Extra::last) return rank >= corners() ? std::optional<Rank>(rank - corners()) : std::nullopt;
    return rank < 2 * extra_ && rank % 2 != stays() ? std::optional<Rank>(rank ^ 1) : std::nullopt;
  }
  std::optional<Rank> represents(Rank rank) const {
    if (which_ == Extra::last) return rank < extra_ ? std::optional<Rank>(rank + corners()) : std::nullopt;
    return rank < 2 * extra_ && rank % 2 == stays() ? std::optional<Rank>(rank ^ 1) : std::nullopt;
  }

  // The neighbour of a participating rank in one dimension.
  Rank neighbour(Rank rank, int dimension) const { return rank_of(corner_of(rank) ^ (Rank{1} << dimension)); }

  // The corner of a participating rank, and its inverse.
  Rank corner_of(Rank rank) const {
    if (which_ == Extra::last) return rank;
    return rank < 2 * extra_ ? rank / 2 : rank - extra_;
  }
  Rank rank_of(Rank corner) const {
    if (which_ == Extra::last) return corner;
    return corner < extra_ ? 2 * corner + stays() : corner + extra_;
  }

  // With pairs, the first rank that a corner represents; for one past the last corner, the number of ranks.
  Rank first_of(Rank corner) const { return corner < extra_ ? 2 * corner : corner + extra_; }

 private:
  // Of a pair the second or the first.
  Rank stays() const { return which_ == Extra::lower ? 1 : 0; }

  int dimensions_;
  Rank extra_;
  Extra which_;
};

}  // namespace quadrille::patterns
