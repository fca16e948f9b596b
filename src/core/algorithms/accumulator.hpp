#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compose/problem.hpp"
#include "patterns/hypercube.hpp"

namespace quadrille {

// A rank's partial result of a reduction, and a buffer for the next operand. The result starts in the input and
// alternates between the output, if the rank has one, and scratch, so that the operand order is preserved without
// unnecessary copies.
class Accumulator {
 public:
  Accumulator(Builder& builder, const Problem& problem);

  // The partial result, and where to receive the next operand.
  Region value(Range part) const { return value_.part(part); }
  Region incoming(Range part) { return spare().part(part); }

  enum class Side { lower, higher };

  // Combines the operand received for `part` with the partial result; afterwards only `part` of the value is valid. The
  // operand comes from ranks on the given side of those combined so far.
  void combine(Range part, Side side) { combine({&part, 1}, side, problem_.commutative); }
  void combine(std::span<const Range> parts, Side side) { combine(parts, side, problem_.commutative); }
  // The same for an operand from one peer, whose ranks are adjacent to those combined so far.
  void combine(Range part, Rank peer) { combine(part, side_of(peer)); }
  // The same if the peer combines these two values as well: in rank order on both sides, even if the operation is
  // commutative, so that both results are bitwise equal (of two NaNs, or of 0 and -0, MPI_MAX may return either).
  void combine_alike(Range part, Rank peer) { combine({&part, 1}, side_of(peer), false); }

  // Copies `part` of the value to the output if it is not there.
  void deliver(Range part);

  // Maximum units of scratch on ranks with and without an output.
  static std::int64_t scratch_units(const Problem& problem) { return problem.ranks > 1 ? problem.count : 0; }
  static std::int64_t scratch_units_without_output(const Problem& problem) { return 2 * scratch_units(problem); }

 private:
  Side side_of(Rank peer) const { return peer < problem_.rank ? Side::lower : Side::higher; }
  void combine(std::span<const Range> parts, Side side, bool either_order);
  Region spare() { return place_apart_from(nullptr); }
  Region place_apart_from(const Region* other);

  Builder& builder_;
  Problem problem_;
  Region value_;
  std::vector<Region> places_;  // writable buffers
};

// On a vertex of a tree: receives and combines the data of its children in turn. Those that come later are farther
// away, all on one side.
void combine_children(Builder& builder, const Problem& problem, const std::vector<Rank>& children,
                      Accumulator::Side side, Accumulator& result);

// A reduce by a tree with that top: each rank combines the data of its children in this order, and sends the result to
// its parent. The top, if it is not the root, sends it there.
void reduce_by_tree(Builder& builder, const Problem& problem, const std::optional<Rank>& parent,
                    const std::vector<Rank>& children, Accumulator::Side side, Rank top);

// On a corner of a hypercube: receives and combines the data of the rank it represents, if any.
void combine_represented(Builder& builder, const Problem& problem, const patterns::Hypercube& cube,
                         Accumulator& result);

// An allreduce among the corners of a hypercube for any number of ranks: a rank that is not a corner sends its data to
// its representative, and receives the result from it. `among_corners` leaves the result in the output.
template <class AmongCorners>
void allreduce_on_hypercube(Builder& builder, const Problem& problem, AmongCorners&& among_corners) {
  const patterns::Hypercube cube(problem.ranks);
  if (const auto representative = cube.represented_by(problem.rank)) {
    builder.send(*representative, problem.input);
    builder.receive(*representative, problem.output);
    return;
  }
  Accumulator result(builder, problem);
  combine_represented(builder, problem, cube, result);
  among_corners(cube, result);
  if (const auto represented = cube.represents(problem.rank)) builder.send(*represented, problem.output);
}

}  // namespace quadrille
