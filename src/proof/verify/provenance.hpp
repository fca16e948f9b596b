#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/data.hpp"
#include "schedule/index.hpp"
#include "verify/rank_set.hpp"

namespace quadrille::verify {

// The provenance of a range, instead of its data: element i of the range is `expression` at index `offset` + i. Equal
// values mean equal data.
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

  // The ranks that an expression combines, and their block; that of the left operand if they differ.
  const RankSet& ranks(std::int32_t expression) const { return at(expression).ranks; }
  std::int32_t block(std::int32_t expression) const { return at(expression).block; }

  // The operands from left to right, and the expression as one would write it: "(r0 + r1) + r2". Of a large one the
  // beginning: at most so many operands.
  std::vector<Rank> operands(std::int32_t expression, std::size_t most) const;
  std::string text(std::int32_t expression, std::size_t most) const;
  bool is_leaf(std::int32_t expression) const { return at(expression).leaf; }
  bool in_order(std::int32_t expression) const { return at(expression).in_order; }

  // Whether the expression combines the ranks 0 ... ranks - 1, each once, at the same index of that block and, unless
  // the operation is commutative, in rank order.
  bool combines_all(std::int32_t expression, Rank ranks, std::int32_t block) const;
  // Whether it also does so rank by rank, from left to right.
  bool folds_all(std::int32_t expression, Rank ranks, std::int32_t block) const {
    return combines_all(expression, ranks, block) && at(expression).fold;
  }

 private:
  // The buffer of a reduction's operand does not matter: only one buffer of a rank holds data.
  struct Expression {
    std::int32_t block = 0;
    bool leaf = false;
    bool regular = true;   // one block, one index, no rank twice
    bool in_order = true;  // the leaves, left to right, are consecutive ranks
    bool fold = true;      // in order, and every right operand is from one rank
    RankSet ranks = {};
    std::int32_t left = -1;  // operands
    std::int32_t right = -1;
  };

  const Expression& at(std::int32_t expression) const { return expressions_[static_cast<std::size_t>(expression)]; }
  Expression combination(const Expression& left, const Expression& right, std::int64_t delta) const;

  bool commutative_;
  Index<4> numbers_;  // by left, right and the difference of their indices; leaves by -1, rank, buffer and block
  std::vector<Expression> expressions_;
};

// A range and its value.
struct Held {
  Range range;
  Value value;

  friend bool operator==(const Held&, const Held&) = default;
};

// Appends the contents of [begin, end) of sorted pieces to `into`, shifted to begin at `at`; false if part of it is
// missing.
bool read(std::span<const Held> pieces, Range range, std::int64_t at, std::vector<Held>& into);

// The contents of one block: sorted ranges, merged where that is found out.
class Contents {
 public:
  // The contents of [begin, end), with ranges relative to `begin`; nullopt if part of it was never written.
  std::optional<std::vector<Held>> read(Range range) const;
  // Appends them to `into`, with ranges relative to `begin` - `at`; false if part of it was never written.
  bool read(Range range, std::int64_t at, std::vector<Held>& into) const;
  // Overwrites the contents from `begin` on; the ranges are relative to it.
  void write(std::int64_t begin, std::span<const Held> pieces);

 private:
  // A block may have a piece for each pair of ranks, written in any order: parts of it keep insertions short.
  using Part = std::vector<Held>;

  static void write(Part& part, std::int64_t begin, std::span<const Held> pieces);
  void divide(std::size_t part);

  std::vector<Part> parts_;  // sorted, none of them empty
};

}  // namespace quadrille::verify
