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
  // The lowest set bit determines the parent; the bits below it are the children.
  std::int64_t bit = 1;
  while (bit < ranks && (relative & bit) == 0) bit *= 2;
  if (relative != 0) tree.parent = at_distance(rank, -static_cast<Rank>(bit), ranks);
  for (bit /= 2; bit > 0; bit /= 2) {
    if (relative + bit < ranks) tree.children.push_back(at_distance(rank, static_cast<Rank>(bit), ranks));
  }
  return tree;
}

Tree doubling_binomial_tree(Rank rank, Rank ranks, Rank root) {
  Tree tree;
  const Rank relative = at_distance(rank, -root, ranks);
  // The highest set bit determines the parent; the bits above it are the children.
  std::int64_t bit = 1;
  while (bit <= relative) bit *= 2;
  if (relative != 0) tree.parent = at_distance(rank, -static_cast<Rank>(bit / 2), ranks);
  for (; relative + bit < ranks; bit *= 2) tree.children.push_back(at_distance(rank, static_cast<Rank>(bit), ranks));
  return tree;
}

Tree knomial_tree(Rank rank, Rank ranks, Rank root, Rank k) {
  Tree tree;
  const std::int64_t relative = at_distance(rank, -root, ranks);
  // The lowest nonzero digit to the base k determines the parent; the positions below it are the children.
  std::int64_t place = 1;
  while (place < ranks && relative / place % k == 0) place *= k;
  const auto at = [&](std::int64_t other) { return at_distance(root, static_cast<Rank>(other), ranks); };
  if (relative != 0) tree.parent = at(relative - relative / place % k * place);
  for (place /= k; place > 0; place /= k) {
    for (std::int64_t child = relative + place; child < relative + k * place && child < ranks; child += place) {
      tree.children.push_back(at(child));
    }
  }
  return tree;
}

Tree binary_tree(Rank rank, Rank ranks, Rank root) {
  Tree tree;
  const std::int64_t relative = at_distance(rank, -root, ranks);
  const auto at = [&](std::int64_t other) { return at_distance(root, static_cast<Rank>(other), ranks); };
  if (relative != 0) tree.parent = at((relative - 1) / 2);
  for (std::int64_t child = 2 * relative + 1; child <= 2 * relative + 2 && child < ranks; ++child) {
    tree.children.push_back(at(child));
  }
  return tree;
}

Tree interleaved_binary_tree(Rank rank, Rank ranks, Rank root) {
  Tree tree;
  const std::int64_t relative = at_distance(rank, -root, ranks);
  const auto at = [&](std::int64_t other) { return at_distance(root, static_cast<Rank>(other), ranks); };
  // Ranks of this level and, above it, one less.
  std::int64_t level = 1;
  while (2 * level - 1 <= relative) level *= 2;
  if (relative != 0) tree.parent = at(relative - (relative - level / 2 < level - 1 ? level / 2 : level));
  for (const std::int64_t child : {relative + level, relative + 2 * level}) {
    if (child < ranks) tree.children.push_back(at(child));
  }
  return tree;
}

Tree post_order_binary_tree(Rank rank, Rank ranks) {
  // Down from the root to this rank: `top` is above [first, middle) and [middle, top).
  Tree tree;
  Rank first = 0;
  Rank top = ranks - 1;
  const auto middle = [&] { return first + (top - first + 1) / 2; };
  while (top != rank) {
    tree.parent = top;
    const bool in_lower_half = rank < middle();
    first = in_lower_half ? first : middle();
    top = in_lower_half ? middle() - 1 : top - 1;
  }
  if (middle() < top) tree.children.push_back(top - 1);
  if (first < middle()) tree.children.push_back(middle() - 1);
  return tree;
}

Tree in_order_binary_tree(Rank rank, Rank ranks, Rank root) {
  // Down from the root of [first, last) to this rank.
  Rank first = 0;
  Rank last = ranks;
  Rank top = root;
  Tree tree;
  while (top != rank) {
    tree.parent = top;
    (rank < top ? last : first) = rank < top ? top : top + 1;
    top = first + (last - first) / 2;
  }
  if (first < rank) tree.children.push_back(first + (rank - first) / 2);
  if (rank + 1 < last) tree.children.push_back(rank + 1 + (last - rank - 1) / 2);
  return tree;
}

Rank binomial_subtree(Rank rank, Rank ranks, Rank root) {
  const Rank relative = at_distance(rank, -root, ranks);
  if (relative == 0) return ranks;
  const Rank lowest_bit = relative & -relative;
  return lowest_bit < ranks - relative ? lowest_bit : ranks - relative;
}

std::int64_t binomial_depths(Rank ranks) {
  // The depth of a rank is its number of set bits: for each bit, count the ranks that have it set.
  std::int64_t depths = 0;
  for (std::int64_t bit = 1; bit < ranks; bit *= 2) {
    const std::int64_t rest = ranks % (2 * bit) - bit;
    depths += ranks / (2 * bit) * bit + (rest > 0 ? rest : 0);
  }
  return depths;
}

Rank largest_binomial_branch(Rank ranks) {
  Rank largest = 0;
  for (Rank child : binomial_tree(0, ranks, 0).children) {
    const Rank branch = binomial_subtree(child, ranks, 0);
    if (branch > 1 && branch > largest) largest = branch;
  }
  return largest;
}

Tree chain(Rank rank, Rank ranks, Rank root) {
  Tree tree;
  if (rank != root) tree.parent = at_distance(rank, -1, ranks);
  const Rank next = at_distance(rank, 1, ranks);
  if (next != root) tree.children.push_back(next);
  return tree;
}

}  // namespace quadrille::patterns
