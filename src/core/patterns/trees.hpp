#pragma once

#include <optional>
#include <vector>

#include "schedule/data.hpp"

// Peer arithmetic alone: who talks to whom, in which order.
namespace quadrille::patterns {

struct Tree {
  std::optional<Rank> parent;  // none at the root
  std::vector<Rank> children;  // in the order in which they are served

  // The other way round: as they report to their parent, the smallest subtree of a binomial tree first.
  std::vector<Rank> backwards() const { return {children.rbegin(), children.rend()}; }
};

// Every rank hangs on the root.
Tree linear_tree(Rank rank, Rank ranks, Rank root);

// Each rank that has the data serves one more in each of ceil(log2 ranks) steps, the largest subtree first.
Tree binomial_tree(Rank rank, Rank ranks, Rank root);

// The same with k - 1 more in each of ceil(log_k ranks) rounds.
Tree knomial_tree(Rank rank, Rank ranks, Rank root, Rank k);

// Each rank has two children; ranks stand in the tree row by row.
Tree binary_tree(Rank rank, Rank ranks, Rank root);

// A binary tree in which all ranks of a node's left subtree come before it and all of the right one behind it, so that
// the order of ranks survives in a reduction. Halves are as even as can be. Left child first.
Tree in_order_binary_tree(Rank rank, Rank ranks, Rank root);

// The ranks below this one, and itself, in a binomial tree: so many from this one on, around the end.
Rank binomial_subtree(Rank rank, Rank ranks, Rank root);
// How far from the root all ranks of a binomial tree are, added up: also what all subtrees but the whole hold together.
std::int64_t binomial_depths(Rank ranks);
// The largest subtree below the root that has more than one rank; 0 if there is none.
Rank largest_binomial_branch(Rank ranks);

// root, root + 1, ... one after another.
Tree chain(Rank rank, Rank ranks, Rank root);

// Steps of a broadcast from rank 0, where a rank serves one child at a time and children have larger numbers than their
// parent.
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

}  // namespace quadrille::patterns
