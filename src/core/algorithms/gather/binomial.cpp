// Binomial gather: blocks move up a binomial tree. A rank collects the blocks of its subtree, which consists of
// consecutive ranks from itself on, and sends them in one message; the root receives them at their final position.
//
// Any number of ranks. Scratch: at most p/2 n.

#include "algorithms/rounds.hpp"
#include "algorithms/subtrees.hpp"

namespace quadrille::gather {

namespace {

void build(Builder& builder, const Problem& problem) {
  const std::int64_t n = problem.count;
  const auto below = [&](Rank rank) { return patterns::binomial_subtree(rank, problem.ranks, problem.root); };
  const patterns::Tree tree = patterns::binomial_tree(problem.rank, problem.ranks, problem.root);
  if (!tree.parent) {
    builder.copy(problem.input, problem.output_block(problem.rank));
    for (Rank child : tree.backwards()) {
      builder.receive(child, problem.output_blocks(child, below(child)));
    }
    return;
  }
  Region collected = problem.input;
  if (!tree.children.empty()) {
    collected = builder.scratch(below(problem.rank) * n);
    builder.copy(problem.input, collected.part(0, n));
  }
  for (Rank child : tree.backwards()) {
    const Rank distance = patterns::at_distance(child, -problem.rank, problem.ranks);
    builder.receive(child, collected.part(distance * n, below(child) * n));
  }
  builder.send(*tree.parent, collected);
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  rounds::up(out, problem.ranks, [&](Rank distance) { return n * std::min(distance, problem.ranks - distance); });
}

}  // namespace

extern const Algorithm binomial = {
    .collective = Collective::gather,
    .name = "binomial",
    .summary = "blocks move up a binomial tree",
    .paper = "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005",
    .steps = "ceil(log2 p)",
    .cost = "ceil(log2 p) a + (p - 1) n b",
    .scratch = "at most p/2 n",
    .restrictions = {},
    .logarithmic = true,
    .gathers = true,
    .build = build,
    .predict = predict_subtrees,
    .scratch_units = subtree_scratch,
    .outline = outline,
    .scales = at_any_size,
};

}  // namespace quadrille::gather
