#pragma once

#include <functional>

#include "algorithms/algorithm.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

// What one-sided algorithms have in common: the output of every rank lies in a window, and so does a board of notices,
// two for each peer, which that peer alone sets. So none is ever reset, and several collectives may follow one another.
// Staging blocks have two more each.
namespace quadrille::one_sided {

// The notices of a rank: of each peer one that it sets where it has the data, and one where it needs it.
class Notices {
 public:
  Notices(Builder& builder, const Problem& problem, std::int64_t most) : ranks_(problem.ranks) {
    builder.notices(2 * problem.ranks, most);
  }
  std::int32_t of_source(Rank source) const { return source; }
  std::int32_t of_target(Rank target) const { return ranks_ + target; }
  // Of a staging block, which a rank has at another; see Schedule.
  std::int32_t filled(std::int32_t block) const { return 2 * (ranks_ + block); }
  std::int32_t taken(std::int32_t block) const { return 2 * (ranks_ + block) + 1; }

 private:
  Rank ranks_;
};

// How data goes from one rank to another.
enum class Transfer : std::uint8_t {
  push,     // the target says that its memory is ready; the source puts, flushes and tells
  deposit,  // the same with short data, which goes into the target's box and needs no flush
  pull,     // the source tells that the data is there; the target gets it and says so
};
// If a rank has that many boxes, each for `count` units.
Transfer transfer_of(const Problem& problem, Rank boxes = 1);

// What a rank does with a segment of the data besides passing it on; it may get it by that, too, if it is not in the
// tree.
using Beside = std::function<void(const Segment&, const Region&)>;

// The root's data goes down a tree, segment by segment.
void broadcast(Builder& builder, const Problem& problem, const patterns::Tree& tree, const Beside& beside = {});

// The prediction for a broadcast by the tree that `tree_of(rank)` has with root 0; its steps are known for one segment.
template <class TreeOf>
Prediction predict_broadcast(const Problem& problem, TreeOf&& tree_of) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t segments = patterns::segments(problem.count, problem.segment);
  Prediction predicted{
      .steps = Prediction::unknown_steps, .messages = others * segments, .units = others * problem.count};
  const Transfer by = transfer_of(problem);
  if (by == Transfer::deposit) predicted.messages = others;
  if (by == Transfer::pull || (by == Transfer::push && segments > 1)) return predicted;
  predicted.steps = patterns::broadcast_steps(problem.ranks, tree_of);
  return predicted;
}

}  // namespace quadrille::one_sided
