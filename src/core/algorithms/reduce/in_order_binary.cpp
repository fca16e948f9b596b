// In-order binary reduce: a binary tree in which the ranks of a vertex's left subtree are lower and those of its right
// subtree are higher. Each vertex combines left subtree, itself, right subtree: rank order is preserved for any root,
// without an extra message.
//
// Any number of ranks, any operation. Scratch: 2 n.

#include <algorithm>
#include <utility>

#include "algorithms/accumulator.hpp"
#include "algorithms/algorithm.hpp"
#include "algorithms/rounds.hpp"
#include "patterns/trees.hpp"

namespace quadrille::reduce {

namespace {

void build(Builder& builder, const Problem& problem) {
  const Range all{0, problem.count};
  const patterns::Tree tree = patterns::in_order_binary_tree(problem.rank, problem.ranks, problem.root);
  Accumulator result(builder, problem);
  for (Rank child : tree.children) {
    builder.receive(child, result.incoming(all));
    result.combine(all, child);
  }
  if (tree.parent) {
    builder.send(*tree.parent, result.value(all));
  } else {
    result.deliver(all);
  }
}

// The step in which a vertex has combined its subtrees, either of which may be empty; the left one is received first.
std::int64_t combined(Rank left, std::int64_t left_steps, Rank right, std::int64_t right_steps) {
  const std::int64_t after_left = left > 0 ? left_steps + 1 : 0;
  return right > 0 ? std::max(after_left, right_steps) + 1 : after_left;
}

// Steps of balanced trees of `ranks` and `ranks` + 1: the halves of both have only two sizes.
std::pair<std::int64_t, std::int64_t> even_trees(Rank ranks) {
  if (ranks == 0) return {0, 0};
  const Rank half = (ranks - 1) / 2;
  const std::pair<std::int64_t, std::int64_t> halves = even_trees(half);
  const auto steps = [&](Rank size) { return size == half ? halves.first : halves.second; };
  const auto tree = [&](Rank size) {
    return combined(size / 2, steps(size / 2), (size - 1) / 2, steps((size - 1) / 2));
  };
  return {tree(ranks), tree(ranks + 1)};
}

Prediction predict(const Problem& problem) {
  const std::int64_t others = problem.ranks - 1;
  const Rank left = problem.root;
  const Rank right = problem.ranks - 1 - problem.root;
  return {.steps = combined(left, even_trees(left).first, right, even_trees(right).first),
          .messages = others,
          .units = others * problem.count};
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  out.chain(
      n,
      {.hops = 1.0 * patterns::floor_log2(problem.ranks), .reduced = n, .fan = 2, .distance = problem.ranks / 2 | 1});
}

}  // namespace

extern const Algorithm in_order_binary = {
    .collective = Collective::reduce,
    .name = "in_order_binary",
    .summary = "partial results move up a binary tree that preserves rank order for any root",
    .paper = "Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, 2007",
    .steps = "at most 2 log2 p",
    .cost = "steps (a + n b + n c)",
    .scratch = "2 n",
    .restrictions = {},
    .logarithmic = true,
    .build = build,
    .predict = predict,
    .scratch_units = Accumulator::scratch_units_without_output,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::reduce
