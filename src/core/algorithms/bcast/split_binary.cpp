// Split binary broadcast of Open MPI: one half of the data moves down each of the two subtrees of the root; then each
// rank exchanges its half with a neighbour, which is in the other subtree. In an even number of ranks the last one gets
// the other half from the root.
//
// Any number of ranks. No scratch.

#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::bcast {

namespace {

void build(Builder& builder, const Problem& problem) {
  const Rank p = problem.ranks;
  const Rank place = patterns::at_distance(problem.rank, -problem.root, p);
  const auto rank_at = [&](Rank other) { return patterns::at_distance(problem.root, other, p); };
  // Odd places are in the first subtree.
  const auto half_of = [&](Rank other) {
    const std::int64_t middle = problem.count - problem.count / 2;
    return problem.output.part(other % 2 == 1 ? Range{0, middle} : Range{middle, problem.count});
  };

  const patterns::Tree tree = patterns::interleaved_binary_tree(place, p, 0);
  if (tree.parent) builder.receive(rank_at(*tree.parent), half_of(place));
  for (Rank child : tree.children) builder.send(rank_at(child), half_of(child));

  const bool root_takes_part = p % 2 == 0;
  if (p > 1 && place == 0 && root_takes_part) builder.send(rank_at(p - 1), half_of(0));
  if (place == 0) return;
  const Rank partner = patterns::at_distance(place, place % 2 == 1 ? 1 : -1, p);
  if (partner != 0) builder.send(rank_at(partner), half_of(place));
  builder.receive(rank_at(partner), half_of(partner));
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const std::int64_t front = problem.count - problem.count / 2;
  // Every rank but the root receives one half from its parent and the other one from its partner.
  return {.steps = Prediction::unknown_steps, .messages = 2 * others, .units = others * (front + problem.count / 2)};
}

void outline(const Problem& problem, Outline& out) {
  const double half = 0.5 * rounds::number(problem.count);
  const double depth = patterns::floor_log2(problem.ranks);
  out.chain(half, {.hops = depth, .fan = 2, .distance = problem.ranks / 2 | 1});
  out.exchange(1, half);
}

}  // namespace

extern const Algorithm split_binary = {
    .collective = Collective::bcast,
    .name = "split_binary",
    .summary = "half of the data moves down each subtree of a binary tree, and neighbours exchange halves",
    .paper = "Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, 2007",
    .steps = "at most 2 log2(p + 1) + 1",
    .cost = "steps (a + n/2 b)",
    .scratch = "0",
    .restrictions = {},
    .logarithmic = true,
    .offered = false,
    .build = build,
    .predict = predict,
    .scratch_units = no_scratch,
    .outline = outline,
};

}  // namespace quadrille::bcast
