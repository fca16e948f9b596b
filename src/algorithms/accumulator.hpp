#pragma once

#include <optional>

#include "compose/problem.hpp"

namespace quadrille {

// A rank's partial result of a reduction, and room for what arrives to be combined with it. Starts on the input and
// moves between output and scratch so that operands keep their sides and nothing is copied without need.
class Accumulator {
 public:
  Accumulator(Builder& builder, const Problem& problem);

  // The partial result so far, and where the next operand is to be received.
  Region value(Range part) const { return value_.part(part.begin, part.end - part.begin); }
  Region incoming(Range part);

  enum class Side { lower, higher };

  // Combines what was received for `part` with the partial result; afterwards only `part` of the value counts. The
  // operand that came in is of ranks on the given side of those combined so far.
  void combine(Range part, Side side);

  // Brings `part` of the value to the output.
  void deliver(Range part);

  // Units of scratch it may take.
  static std::int64_t scratch_units(const Problem& problem);

 private:
  Region spare();

  Builder& builder_;
  const Problem& problem_;
  Region value_;
  std::optional<Region> scratch_;
};

}  // namespace quadrille
