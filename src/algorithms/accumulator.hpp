#pragma once

#include <optional>

#include "compose/problem.hpp"
#include "patterns/hypercube.hpp"

namespace quadrille {

// A rank's partial result of a reduction, and room for what arrives to be combined with it. Starts on the input and
// moves between output and scratch so that operands keep their sides and nothing is copied without need.
class Accumulator {
 public:
  Accumulator(Builder& builder, const Problem& problem);

  // The partial result so far, and where the next operand is to be received.
  Region value(Range part) const { return value_.part(part); }
  Region incoming(Range part);

  enum class Side { lower, higher };

  // Combines what was received for `part` with the partial result; afterwards only `part` of the value counts. The
  // operand that came in is of ranks on the given side of those combined so far.
  void combine(Range part, Side side) { combine(part, side, problem_.commutative); }
  // The same where it came from one peer, whose ranks are neighbours of those combined so far.
  void combine(Range part, Rank peer) { combine(part, side_of(peer)); }
  // The same where the peer combines these two values as well: in rank order on both sides, even if the operation is
  // commutative, so that both get the same to the bit (of two NaNs, or of 0 and -0, MPI_MAX takes the one or the
  // other).
  void combine_alike(Range part, Rank peer) { combine(part, side_of(peer), false); }

  // Brings `part` of the value to the output.
  void deliver(Range part);

  // Units of scratch it may take.
  static std::int64_t scratch_units(const Problem& problem);

 private:
  Side side_of(Rank peer) const { return peer < problem_.rank ? Side::lower : Side::higher; }
  void combine(Range part, Side side, bool either_order);
  Region spare();

  Builder& builder_;
  const Problem& problem_;
  Region value_;
  std::optional<Region> scratch_;
};

// An allreduce among the corners of a hypercube for any number of ranks: a rank that is not a corner hands its data to
// the one that represents it, and gets the result from there. `among_corners` leaves the result in the output.
template <class AmongCorners>
void allreduce_on_hypercube(Builder& builder, const Problem& problem, AmongCorners&& among_corners) {
  const patterns::Hypercube cube(problem.ranks);
  if (const auto representative = cube.represented_by(problem.rank)) {
    builder.send(*representative, problem.input);
    builder.receive(*representative, problem.output);
    return;
  }
  const Range all{0, problem.count};
  Accumulator result(builder, problem);
  const auto represented = cube.represents(problem.rank);
  if (represented) {
    builder.receive(*represented, result.incoming(all));
    result.combine(all, *represented);
  }
  among_corners(cube, result);
  if (represented) builder.send(*represented, problem.output);
}

}  // namespace quadrille
