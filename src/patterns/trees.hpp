#pragma once

#include <optional>
#include <vector>

#include "schedule/data.hpp"

// Peer arithmetic alone: who talks to whom, in which order.
namespace quadrille::patterns {

struct Tree {
  std::optional<Rank> parent;  // none at the root
  std::vector<Rank> children;  // in the order in which they are served
};

// Every rank hangs on the root.
Tree linear_tree(Rank rank, Rank ranks, Rank root);

// Each rank that has the data serves one more in each of ceil(log2 ranks) steps, the largest subtree first.
Tree binomial_tree(Rank rank, Rank ranks, Rank root);

// root, root + 1, ... one after another.
Tree chain(Rank rank, Rank ranks, Rank root);

}  // namespace quadrille::patterns
