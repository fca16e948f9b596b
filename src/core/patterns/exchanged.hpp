#pragma once

#include "patterns/trees.hpp"

namespace quadrille::patterns {

// A tree below rank 0, in which rank 0 and the root then change places, as libNBC numbers ranks: no other rank moves.
template <Tree (*tree_of)(Rank rank, Rank ranks, Rank root)>
Tree root_exchanged(Rank rank, Rank ranks, Rank root) {
  const auto exchanged = [root](Rank one) { return one == 0 ? root : one == root ? 0 : one; };
  Tree tree = tree_of(exchanged(rank), ranks, 0);
  if (tree.parent) tree.parent = exchanged(*tree.parent);
  for (Rank& child : tree.children) child = exchanged(child);
  return tree;
}

}  // namespace quadrille::patterns
