#include "patterns/trees.hpp"

#include "patterns/ring.hpp"

namespace quadrille::patterns {

Tree linear_tree(Rank rank, Rank ranks, Rank root) {
  Tree tree;
  if (rank != root) {
    tree.parent = root;
    return tree;
  }
  for (Rank distance = 1; distance < ranks; ++distance) tree.children.push_back(at_distance(root, distance, ranks));
  return tree;
}

Tree binomial_tree(Rank rank, Rank ranks, Rank root) {
  Tree tree;
  const Rank relative = at_distance(rank, -root, ranks);
  // The lowest set bit says where the parent is; the bits below it are the children.
  std::int64_t bit = 1;
  while (bit < ranks && (relative & bit) == 0) bit *= 2;
  if (relative != 0) tree.parent = at_distance(rank, -static_cast<Rank>(bit), ranks);
  for (bit /= 2; bit > 0; bit /= 2) {
    if (relative + bit < ranks) tree.children.push_back(at_distance(rank, static_cast<Rank>(bit), ranks));
  }
  return tree;
}

Tree chain(Rank rank, Rank ranks, Rank root) {
  Tree tree;
  if (rank != root) tree.parent = at_distance(rank, -1, ranks);
  const Rank next = at_distance(rank, 1, ranks);
  if (next != root) tree.children.push_back(next);
  return tree;
}

}  // namespace quadrille::patterns
