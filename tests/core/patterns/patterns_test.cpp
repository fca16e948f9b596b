#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "patterns/even_shares.hpp"
#include "patterns/hypercube.hpp"
#include "patterns/partners.hpp"
#include "patterns/ring.hpp"
#include "patterns/swing.hpp"
#include "patterns/tournament.hpp"
#include "patterns/trees.hpp"

namespace quadrille::patterns {
namespace {

using MakeTree = Tree (*)(Rank, Rank, Rank);

TEST(Trees, ParentsAndChildrenAgreeAndReachEveryRankOnce) {
  const MakeTree three_nomial = [](Rank rank, Rank ranks, Rank root) { return knomial_tree(rank, ranks, root, 3); };
  for (MakeTree tree : {linear_tree, binomial_tree, doubling_binomial_tree, chain, binary_tree, interleaved_binary_tree,
                        in_order_binary_tree, three_nomial}) {
    for (Rank ranks : {1, 2, 3, 4, 5, 7, 8, 11, 16, 33}) {
      for (Rank root = 0; root < ranks; ++root) {
        std::vector<int> reached(static_cast<std::size_t>(ranks), 0);
        for (Rank rank = 0; rank < ranks; ++rank) {
          for (Rank child : tree(rank, ranks, root).children) {
            ++reached[static_cast<std::size_t>(child)];
            EXPECT_EQ(tree(child, ranks, root).parent, rank);
          }
        }
        EXPECT_FALSE(tree(root, ranks, root).parent.has_value());
        EXPECT_EQ(reached[static_cast<std::size_t>(root)], 0);
        EXPECT_EQ(std::count(reached.begin(), reached.end(), 1), ranks - 1);
      }
    }
  }
}

TEST(Trees, BinomialSendsToTheLargestSubtreeFirst) {
  EXPECT_EQ(binomial_tree(0, 11, 0).children, (std::vector<Rank>{8, 4, 2, 1}));
  EXPECT_EQ(binomial_tree(8, 11, 0).children, (std::vector<Rank>{10, 9}));
  EXPECT_EQ(binomial_tree(3, 8, 3).children, (std::vector<Rank>{7, 5, 4}));
}

TEST(Trees, DoublingBinomialSendsFartherInEachStep) {
  EXPECT_EQ(doubling_binomial_tree(0, 11, 0).children, (std::vector<Rank>{1, 2, 4, 8}));
  EXPECT_EQ(doubling_binomial_tree(2, 11, 0).children, (std::vector<Rank>{6, 10}));
  EXPECT_EQ(doubling_binomial_tree(4, 8, 3).children, (std::vector<Rank>{6, 0}));
}

TEST(Trees, SubtreesOfAnInterleavedBinaryTreeTakeTurns) {
  EXPECT_EQ(interleaved_binary_tree(0, 11, 0).children, (std::vector<Rank>{1, 2}));
  EXPECT_EQ(interleaved_binary_tree(1, 11, 0).children, (std::vector<Rank>{3, 5}));
  EXPECT_EQ(interleaved_binary_tree(2, 11, 0).children, (std::vector<Rank>{4, 6}));
  EXPECT_EQ(interleaved_binary_tree(5, 11, 0).children, (std::vector<Rank>{9}));
}

TEST(Trees, BelowARankInPostOrderAreThoseRightBeforeIt) {
  for (Rank ranks = 1; ranks < 70; ++ranks) {
    std::vector<Rank> below(static_cast<std::size_t>(ranks), 1);  // with itself
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Tree tree = post_order_binary_tree(rank, ranks);
      EXPECT_EQ(tree.parent.has_value(), rank + 1 < ranks);
      Rank next = rank - 1;  // the highest rank that is not combined yet
      for (const Rank child : tree.children) {
        EXPECT_EQ(child, next);
        EXPECT_EQ(post_order_binary_tree(child, ranks).parent, rank);
        next -= below[static_cast<std::size_t>(child)];
        below[static_cast<std::size_t>(rank)] += below[static_cast<std::size_t>(child)];
      }
    }
    EXPECT_EQ(below.back(), ranks);
  }
}

// The ranks of a vertex's subtree, from left to right.
std::vector<Rank> in_order(Rank rank, Rank ranks, Rank root) {
  std::vector<Rank> left;
  std::vector<Rank> right;
  for (Rank child : in_order_binary_tree(rank, ranks, root).children) {
    const std::vector<Rank> below = in_order(child, ranks, root);
    auto& side = child < rank ? left : right;
    side.insert(side.end(), below.begin(), below.end());
  }
  left.push_back(rank);
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

TEST(Trees, InOrderBinaryPreservesRankOrder) {
  for (Rank ranks : {1, 2, 3, 6, 7, 12}) {
    std::vector<Rank> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    for (Rank root = 0; root < ranks; ++root) EXPECT_EQ(in_order(root, ranks, root), all);
  }
}

TEST(Trees, BinomialSubtreesAreConsecutiveRanks) {
  EXPECT_EQ(binomial_subtree(0, 11, 0), 11);
  EXPECT_EQ(binomial_subtree(4, 11, 0), 4);
  EXPECT_EQ(binomial_subtree(8, 11, 0), 3);
  EXPECT_EQ(binomial_subtree(1, 11, 9), 1);
  EXPECT_EQ(largest_binomial_branch(11), 4);
  EXPECT_EQ(largest_binomial_branch(2), 0);
  EXPECT_EQ(binomial_depths(8), 12);
  EXPECT_EQ(binomial_depths(5), 5);
}

TEST(Tournament, EveryPairMeetsOnce) {
  for (Rank ranks : {1, 2, 3, 4, 5, 6, 7, 8, 13, 16}) {
    std::set<std::pair<Rank, Rank>> met;
    for (Rank round = 0; round < tournament_rounds(ranks); ++round) {
      for (Rank rank = 0; rank < ranks; ++rank) {
        const auto partner = tournament_partner(rank, ranks, round);
        if (!partner) continue;
        EXPECT_NE(*partner, rank);
        EXPECT_EQ(tournament_partner(*partner, ranks, round), rank);
        EXPECT_TRUE(met.emplace(rank, *partner).second);
      }
    }
    EXPECT_EQ(static_cast<Rank>(met.size()), ranks * (ranks - 1));
  }
}

TEST(Trees, WorkUpToTheLargestRankNumbers) {
  const Rank ranks = 2'147'483'647;
  EXPECT_EQ(binomial_tree(0, ranks, 0).children.size(), 31U);
  EXPECT_EQ(*chain(0, ranks, 1).parent, ranks - 1);
}

TEST(Hypercube, NeighboursAreMutualAndAllRanksAreRepresented) {
  for (Rank ranks : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 33, 100}) {
    for (const auto extra : {Hypercube::Extra::lower, Hypercube::Extra::higher, Hypercube::Extra::last}) {
      const Hypercube cube(ranks, extra);
      Rank corners = 0;
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (const auto by = cube.represented_by(rank)) {
          EXPECT_EQ(cube.represents(*by), rank);
          EXPECT_FALSE(cube.represented_by(*by).has_value());
          continue;
        }
        ++corners;
        EXPECT_EQ(cube.rank_of(cube.corner_of(rank)), rank);
        for (int dimension = 0; dimension < cube.dimensions(); ++dimension) {
          const Rank neighbour = cube.neighbour(rank, dimension);
          EXPECT_EQ(cube.neighbour(neighbour, dimension), rank);
          EXPECT_FALSE(cube.represented_by(neighbour).has_value());
        }
      }
      EXPECT_EQ(corners, cube.corners());
    }
  }
}

TEST(Shares, CoverEverythingAndDifferByAtMostOne) {
  for (std::int64_t count : {0, 1, 6, 7, 8, 1000}) {
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < 7; ++i) {
      const Range range = share(count, i, 7);
      EXPECT_EQ(range.begin, at);
      EXPECT_LE(range.end - range.begin, count / 7 + 1);
      EXPECT_GE(range.end - range.begin, count / 7);
      at = range.end;
    }
    EXPECT_EQ(at, count);
  }
}

TEST(Shares, OfOneLengthCoverEverythingAndTheLastAreShorter) {
  for (std::int64_t count : {0, 1, 6, 7, 8, 15, 1000}) {
    const std::int64_t each = even_shares(count, 0, 1, 7).end;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < 7; ++i) {
      const Range range = even_shares(count, i, 1, 7);
      EXPECT_EQ(range.begin, at);
      EXPECT_EQ(range.end, std::min(count, at + each));
      EXPECT_EQ(even_shares(count, i, 7 - i, 7).end, count);
      at = range.end;
    }
    EXPECT_EQ(at, count);
  }
}

TEST(Logarithms, AreRightAroundPowersOfTwo) {
  EXPECT_EQ(ceil_log2(1), 0);
  EXPECT_EQ(ceil_log2(5), 3);
  EXPECT_EQ(ceil_log2(8), 3);
  EXPECT_EQ(floor_log2(7), 2);
  EXPECT_EQ(floor_log2(8), 3);
  EXPECT_EQ(ceil_log2(2'147'483'647), 31);
  EXPECT_EQ(floor_log2(2'147'483'647), 30);
}

// Steps until all swaps are done, if a swap waits until it is the next one of both ranks; -1: never.
template <class Order>
int steps_of(Order order, Rank ranks) {
  std::vector<std::vector<Rank>> partners;
  for (Rank rank = 0; rank < ranks; ++rank) partners.push_back(order(rank, ranks));
  std::vector<std::size_t> met(partners.size(), 0);
  const auto next = [&](Rank rank) {
    const auto at = static_cast<std::size_t>(rank);
    return met[at] < partners[at].size() ? partners[at][met[at]] : -1;
  };
  for (int step = 0;; ++step) {
    std::vector<Rank> meeting;
    bool left = false;
    for (Rank rank = 0; rank < ranks; ++rank) {
      left |= next(rank) >= 0;
      if (next(rank) >= 0 && next(next(rank)) == rank) meeting.push_back(rank);
    }
    if (!left) return step;
    if (meeting.empty()) return -1;
    for (Rank rank : meeting) ++met[static_cast<std::size_t>(rank)];
  }
}

template <class Order>
bool meets_all_once(Order order, Rank ranks) {
  for (Rank rank = 0; rank < ranks; ++rank) {
    std::vector<Rank> partners = order(rank, ranks);
    partners.push_back(rank);
    std::sort(partners.begin(), partners.end());
    for (Rank i = 0; i < ranks; ++i) {
      if (static_cast<Rank>(partners.size()) != ranks || partners[static_cast<std::size_t>(i)] != i) return false;
    }
  }
  return true;
}

TEST(Partners, TakeTheDocumentedNumberOfSteps) {
  EXPECT_EQ(steps_of(partners_by_halves, 33), 37);
  for (Rank ranks = 2; ranks <= 129; ++ranks) {
    SCOPED_TRACE(ranks);
    const bool even = ranks % 2 == 0;
    EXPECT_EQ(steps_of(partners_by_rank, ranks), 2 * ranks - 3);
    EXPECT_EQ(steps_of(partners_by_shift, ranks), ranks == 2 ? 1 : ranks);
    EXPECT_EQ(steps_of(partners_by_tournament, ranks), even ? ranks - 1 : ranks);
    const int halves = steps_of(partners_by_halves, ranks);
    EXPECT_GE(halves, ranks - 1);
    EXPECT_LE(halves, ranks + ceil_log2(ranks) - 2);
    if ((ranks & (ranks - 1)) == 0) {
      EXPECT_EQ(halves, ranks - 1);
    }
  }
}

TEST(Swing, PartnersAgreeAndHalvesAreApart) {
  EXPECT_EQ(Swing::distance(4), 11);
  for (int steps = 1; steps <= 9; ++steps) {
    const Swing swing(steps);
    const Rank ranks = Rank{1} << steps;
    std::vector<Rank> begin(static_cast<std::size_t>(ranks), 0);  // of the range that a rank has
    for (int step = 0; step < steps; ++step) {
      for (Rank rank = 0; rank < ranks; ++rank) {
        const Rank peer = swing.peer(rank, step);
        ASSERT_EQ(swing.peer(peer, step), rank);
        ASSERT_NE(swing.keeps_front(rank, step), swing.keeps_front(peer, step));
        ASSERT_EQ(begin[static_cast<std::size_t>(rank)], begin[static_cast<std::size_t>(peer)]);
      }
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (!swing.keeps_front(rank, step)) begin[static_cast<std::size_t>(rank)] += ranks >> (step + 1);
      }
    }
    std::sort(begin.begin(), begin.end());
    for (Rank i = 0; i < ranks; ++i) EXPECT_EQ(begin[static_cast<std::size_t>(i)], i);
  }
}

TEST(Partners, AreAllOtherRanksOnce) {
  for (Rank ranks : {1, 2, 3, 7, 8, 33, 64, 129}) {
    EXPECT_TRUE(meets_all_once(partners_by_rank, ranks)) << ranks;
    EXPECT_TRUE(meets_all_once(partners_by_shift, ranks)) << ranks;
    EXPECT_TRUE(meets_all_once(partners_by_tournament, ranks)) << ranks;
    EXPECT_TRUE(meets_all_once(partners_by_halves, ranks)) << ranks;
  }
}

TEST(Partners, OfTwoGroupsMeetInTheSameStep) {
  for (Rank ours = 1; ours <= 9; ++ours) {
    for (Rank theirs = 1; theirs <= 9; ++theirs) {
      int meetings = 0;
      for (Rank step = 0; step < std::max(ours, theirs); ++step) {
        for (Rank place = 0; place < ours; ++place) {
          const Rank partner = partner_across(place, ours, theirs, step);
          if (partner < 0) continue;
          EXPECT_EQ(partner_across(partner, theirs, ours, step), place);
          ++meetings;
        }
      }
      EXPECT_EQ(meetings, ours * theirs);
    }
  }
}

}  // namespace
}  // namespace quadrille::patterns
