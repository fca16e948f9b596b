#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "schedule/data.hpp"

// Peer arithmetic only: communication partners and their order.
namespace quadrille::patterns {

struct Tree {
  std::optional<Rank> parent;  // none at the root
  std::vector<Rank> children;  // in the order in which they receive

  // In reverse, the order in which they send to their parent: the smallest subtree of a binomial tree first.
  std::vector<Rank> backwards() const { return {children.rbegin(), children.rend()}; }
};

// Every rank is a child of the root.
Tree linear_tree(Rank rank, Rank ranks, Rank root);

// Each rank that has the data sends it to one more in each of ceil(log2 ranks) steps, the largest subtree first.
Tree binomial_tree(Rank rank, Rank ranks, Rank root);

// The same with distances that double: in step k the first 2^k ranks, counted from the root, send to those 2^k places
// further on.
Tree doubling_binomial_tree(Rank rank, Rank ranks, Rank root);

// The first binomial tree with k - 1 receivers in each of ceil(log_k ranks) rounds.
Tree knomial_tree(Rank rank, Rank ranks, Rank root, Rank k);

// Each rank has two children; ranks are numbered level by level.
Tree binary_tree(Rank rank, Rank ranks, Rank root);

// The same levels, with subtrees interleaved: the children of a rank on a level of n ranks are n and 2 n places further
// on, so that odd ranks, counted from the root, are below its first child.
Tree interleaved_binary_tree(Rank rank, Rank ranks, Rank root);

// A binary tree numbered in post order, with the last rank as its root: below a rank are the ranks right before it, the
// lower half of them below its second child. A reduction preserves rank order.
Tree post_order_binary_tree(Rank rank, Rank ranks);

// A binary tree in which the ranks of a vertex's left subtree are lower and those of its right subtree are higher, so
// that a reduction preserves rank order. Balanced. Left child first.
Tree in_order_binary_tree(Rank rank, Rank ranks, Rank root);

// The size of a rank's subtree in a binomial tree, whose ranks are consecutive from this one on, modulo ranks.
Rank binomial_subtree(Rank rank, Rank ranks, Rank root);
// The sum of the depths of all ranks of a binomial tree; also the total size of all proper subtrees.
std::int64_t binomial_depths(Rank ranks);
// The size of the largest subtree below the root with more than one rank; 0 if there is none.
Rank largest_binomial_branch(Rank ranks);

// The chain root, root + 1, ...
Tree chain(Rank rank, Rank ranks, Rank root);

// Steps of a broadcast from rank 0 in which a rank sends to one child at a time; children must be higher ranks than
// their parent.
template <class TreeOf>
std::int64_t broadcast_steps(Rank ranks, TreeOf&& tree_of) {
  std::vector<std::int64_t> arrival(static_cast<std::size_t>(ranks), 0);
  std::int64_t last = 0;
  for (Rank rank = 0; rank < ranks; ++rank) {
    std::int64_t step = arrival[static_cast<std::size_t>(rank)];
    last = step > last ? step : last;
    for (Rank child : tree_of(rank).children) arrival[static_cast<std::size_t>(child)] = ++step;
  }
  return last;
}

// Steps of a reduction to `top` in which a rank receives from one child at a time, in their order.
template <class TreeOf>
std::int64_t reduction_steps(Rank top, const TreeOf& tree_of) {
  std::int64_t step = 0;
  for (Rank child : tree_of(top).children) step = std::max(step, reduction_steps(child, tree_of)) + 1;
  return step;
}

}  // namespace quadrille::patterns
