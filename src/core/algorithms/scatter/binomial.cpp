// Binomial scatter: the blocks of a whole subtree, which consists of consecutive ranks, move down a binomial tree in
// one message; a rank keeps its own and forwards the others.
//
// Any number of ranks. Scratch: at most p/2 n.

#include "algorithms/children.hpp"
#include "algorithms/rounds.hpp"
#include "algorithms/subtrees.hpp"

namespace quadrille::scatter {

namespace {

void build(Builder& builder, const Problem& problem) {
  const std::int64_t n = problem.count;
  const auto below = [&](Rank rank) { return patterns::binomial_subtree(rank, problem.ranks, problem.root); };
  const patterns::Tree tree = patterns::binomial_tree(problem.rank, problem.ranks, problem.root);
  if (!tree.parent) {
    send_in_turn(builder, tree, [&](Rank child) { builder.send(child, problem.input_blocks(child, below(child))); });
    builder.copy(problem.input_block(problem.rank), problem.output);
    return;
  }
  if (tree.children.empty()) {
    builder.receive(*tree.parent, problem.output);
    return;
  }
  const Region arrived = builder.scratch(below(problem.rank) * n);
  builder.receive(*tree.parent, arrived);
  send_in_turn(builder, tree, [&](Rank child) {
    const Rank distance = patterns::at_distance(child, -problem.rank, problem.ranks);
    builder.send(child, arrived.part(distance * n, below(child) * n));
  });
  builder.copy(arrived.part(0, n), problem.output);
}

void outline(const Problem& problem, Outline& out) {
  const double n = rounds::number(problem.count);
  rounds::down(out, problem.ranks, [&](Rank distance) { return n * std::min(distance, problem.ranks - distance); });
}

}  // namespace

extern const Algorithm binomial = {
    .collective = Collective::scatter,
    .name = "binomial",
    .summary = "the blocks of whole subtrees move down a binomial tree",
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

}  // namespace quadrille::scatter
