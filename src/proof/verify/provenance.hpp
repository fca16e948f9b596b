#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/data.hpp"
#include "schedule/index.hpp"
#include "verify/rank_set.hpp"

namespace quadrille::verify {

// Where the data of a range came from, in place of the data itself: element i of the range is expression `expression`
// at index `offset` + i. Equal values are equal data.
struct Value {
  std::int32_t expression = -1;
  std::int64_t offset = 0;

  friend bool operator==(const Value&, const Value&) = default;
};

// The expressions of one proof, each stored once: a rank's block as the caller gave it, or left op right.
class Expressions {
 public:
  explicit Expressions(bool commutative) : commutative_(commutative) {}

  std::int32_t leaf(Rank rank, Buffer buffer, std::int32_t block);
  Value combine(const Value& left, const Value& right);

  // The ranks whose data an expression is made of, and the block of theirs; of the left operand where they differ.
  const RankSet& ranks(std::int32_t expression) const { return at(expression).ranks; }
  std::int32_t block(std::int32_t expression) const { return at(expression).block; }

  // Whether the expression combines the ranks 0 ... ranks - 1, each once, at the same index of that block, and unless
  // the operation is commutative in rank order.
  bool combines_all(std::int32_t expression, Rank ranks, std::int32_t block) const;
  // Whether it does so one rank after another, from left to right.
  bool folds_all(std::int32_t expression, Rank ranks, std::int32_t block) const {
    return combines_all(expression, ranks, block) && at(expression).fold;
  }

 private:
  // Of a reduction's operands it does not matter in which buffer of its rank one lay: a rank has one that holds data.
  struct Expression {
    std::int32_t block = 0;
    bool leaf = false;
    bool regular = true;   // one block, one index, no rank twice
    bool in_order = true;  // the leaves, left to right, are consecutive ranks
    bool fold = true;      // in order, and every right operand is one rank's
    RankSet ranks = {};
  };

  const Expression& at(std::int32_t expression) const { return expressions_[static_cast<std::size_t>(expression)]; }
  Expression combination(const Expression& left, const Expression& right, std::int64_t delta) const;

  bool commutative_;
  Index<4> numbers_;  // by left, right and the distance of their indices; of leaves by -1, rank, buffer and block
  std::vector<Expression> expressions_;
};

// A range and what it holds.
struct Held {
  Range range;
  Value value;

  friend bool operator==(const Held&, const Held&) = default;
};

// Appends to `into` what [begin, end) of sorted pieces holds, as a range that begins at `at`; false if part of it is
// missing.
bool read(std::span<const Held> pieces, Range range, std::int64_t at, std::vector<Held>& into);

// The contents of one block: sorted ranges, neighbours that continue one another merged.
class Contents {
 public:
  // What [begin, end) holds, with ranges relative to `begin`; nullopt if part of it was never written.
  std::optional<std::vector<Held>> read(Range range) const;
  std::span<const Held> pieces() const { return pieces_; }
  // Overwrites from `begin` on; the ranges are relative to it.
  void write(std::int64_t begin, std::span<const Held> pieces);

 private:
  std::vector<Held> pieces_;
};

}  // namespace quadrille::verify
